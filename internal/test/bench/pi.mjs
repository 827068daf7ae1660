// What pi does to show a session's context: node pi.mjs FOLDER FILE.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, file] = process.argv.slice(2);
const manager = join(folder, "node_modules/@earendil-works/pi-coding-agent/dist/core/session-manager.js");
const { SessionManager } = await import(pathToFileURL(manager).href);
console.log(SessionManager.open(file).buildSessionContext().messages.length);

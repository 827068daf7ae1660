// stub.mjs PLAN OUT: a model server for tests. It speaks the Gemini API, answers requests that have
// tools from a plan, and writes each request to a file.
import fs from 'node:fs';
import http from 'node:http';

const plan = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));

function answer(body) {
  const next = body.tools?.length ? plan.shift() ?? {text: 'Done.'} : {text: '{"next_speaker":"user"}'};
  const parts = [];
  if (next.thought) parts.push({text: next.thought, thought: true});
  if (next.text) parts.push({text: next.text});
  for (const functionCall of next.calls ?? []) parts.push({functionCall});
  const usageMetadata = {promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110};
  return JSON.stringify({candidates: [{content: {role: 'model', parts}, finishReason: 'STOP', index: 0}], usageMetadata});
}

const server = http.createServer((req, res) => {
  const chunks = [];
  req.on('data', c => chunks.push(c));
  req.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}');
    const stream = /streamGenerateContent/.test(req.url);
    if (stream && body.tools?.length) fs.appendFileSync(process.argv[3], JSON.stringify({contents: body.contents}) + '\n');
    res.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
    const text = /countTokens/.test(req.url) ? '{"totalTokens":100}' : answer(body);
    res.end(stream ? `data: ${text}\r\n\r\n` : text);
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

package redact

import "testing"

// structures are texts in which only the layout, the words of a name or the form of a value show the secret, with ones
// that only look alike.
var structures = []judgedValue{
	{"two words", "DB_PASSWORD=lantern-orchard-61", "lantern-orchard-61", "DB_PASSWORD=reset-password-61"},
	{"two words, YAML", "    password: brise-marine-83", "brise-marine-83", "    password: node-2"},
	{"directive", "default\npassword falke-nebel-36\nport 22", "falke-nebel-36", "default\npassword required\nport 22"},
	{"directive, columns", "user       ann\npassword   marisaBlanca58!\nfrom a", "marisaBlanca58", "user       ann\npassword   prompt\nfrom a"},
	{"directive, flag", "rootpw --plaintext lago-verde-29\nreboot", "lago-verde-29", "rootpw --lock\nreboot"},
	{"one line of netrc", "machine a.io login ann password lago-verde-29", "lago-verde-29", "the page on password reset-form-29"},
	{"router", "username ann password 0 lago-verde-29", "lago-verde-29", "username ann privilege 15"},
	{"field of a page", "page.getByLabel('Password').fill('LAGO-verde29')", "LAGO-verde29", "page.getByLabel('Password').click('LAGO-verde29')"},
	{"field, Selenium", `driver.find_element(By.ID, "password").send_keys("Lago-verde29")`, "Lago-verde29", `driver.find_element(By.ID, "password").click()`},
	{"field, selector", "await page.fill('#password', 'LAGO-verde29')", "LAGO-verde29", "await page.fill('#password', value)"},
	{"field, attribute", `await page.type('input[name="password"]', 'LAGO-verde29')`, "LAGO-verde29", `await page.click('input[name="password"]', opts)`},
	{"field, Cypress", "cy.get('#password').type('LAGO-verde29')", "LAGO-verde29", "cy.get('#password').should('be.visible')"},
	{"primary key", `"primaryKey": "bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg="`, "bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=", `"primaryKey": "order_line_id_2"`},
	{"primary key of a service", "batch_primary_access_key = \"bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=\"", "bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=", "PRIMARY KEY orders_pkey_01 (id)"},
	{"password of a cache", "CACHE_PASSWORD=q8Zr2LmX0vB7", "q8Zr2LmX0vB7", "CACHE_KEY=q8Zr2LmX0vB7kd92pW7x"},
	{"secret of a registry", "registry_secret: q8Zr2LmX0vB7kd92pW7x", "q8Zr2LmX0vB7kd92pW7x", "registry_token_ttl: 86400"},
	{"secret id", "secret_id: 6f1c2a34-9b1d-4e5f-8a7b-27e9589c6948", "6f1c2a34-9b1d-4e5f-8a7b-27e9589c6948", "secret_id: shop-db-main-2\nkey_id: 6f1c2a34-9b1d-4e5f-8a7b-27e9589c6948"},
	{"said now", "Passwort ist geändert, jetzt lago-verde-29 bitte", "lago-verde-29", "Passwort ist geändert, jetzt neu anmelden"},
	{"said now, Russian", "пароль поменяли, теперь lago-verde-29", "lago-verde-29", "пароль поменяли, теперь всё"},
}

func TestStructures(t *testing.T) { checkJudged(t, structures) }

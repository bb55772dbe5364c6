import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ConfigError, loadConfig } from '../../src/config/load.js';
import { withoutDatabaseUrls, withoutSecrets } from '../../src/config/secrets.js';

const shown = (t: ExecutionContext, address: string, expected: string) =>
	t.is(withoutSecrets(address, 'databaseUrl'), expected);

for (const [address, expected] of [
	['mysql://me:hunter2@db/stowage', 'mysql://me:***@db/stowage'],
	['mysql://me:hun@ter2@db:3306/stowage', 'mysql://me:***@db:3306/stowage'],
	['mysql://me@db/stowage?password=hunter2', 'mysql://me@db/stowage?password=***'],
	[
		'mysql://me@db/stowage?socket=/run/mysqld/mysqld.sock&passwd=hunter2',
		'mysql://me@db/stowage?socket=/run/mysqld/mysqld.sock&passwd=***',
	],
	['mysql://me@db/stowage?p%61ssword=hunter2', 'mysql://me@db/stowage?p%61ssword=***'],
	['mysql://me@db/stowage?%70%61%73%73=hunter2&x=y', 'mysql://me@db/stowage?%70%61%73%73=***&x=***'],
	['mysql://me@db/stowage?hunter2', 'mysql://me@db/stowage?***'],
	['mysql://me@db/stowage#hunter2', 'mysql://me@db/stowage#***'],
	['mysql://me@db/stowage?password=hunt@er2', 'mysql://***'],
	['mysql://me:hun/ter2@db/stowage', 'mysql://***'],
	['mysql://me:hun?ter2@db/stowage', 'mysql://***'],
	['mysql://me:hun#ter2@db/stowage', 'mysql://***'],
	['mysql://me:hun ter2@db/stowage', 'mysql://***'],
	['MYSQL://me:hunter2@db/stowage', 'MYSQL://me:***@db/stowage'],
	['https://hunter2@store.example.org/x', 'https://***@store.example.org/x'],
	['https://store.example.org/x?signature=hunter2', 'https://store.example.org/x?signature=***'],
	['sqlite:/srv/a@b/stowage.db', 'sqlite:/srv/a@b/stowage.db'],
	['sqlite:///srv/a@b/stowage.db', 'sqlite:///srv/a@b/stowage.db'],
	['https://files.example.org', 'https://files.example.org'],
] as const)
	test(`the address ${address} is shown without its secrets`, shown, address, expected);

test('all that is below a secret name is hidden, in every spelling of the name', (t) => {
	const options = {
		credentials: { user: 'hunter2', list: ['hunter2', 2] },
		api_key: 'hunter2',
		'db-password': 'hunter2',
		DATABASE_URL: 'mysql://me:hunter2@db/stowage',
		dbPwd: 'hunter2',
		bucket: 'files',
	};
	const tree = withoutSecrets({ plugins: { '@x/auth-password': options } });
	t.notRegex(JSON.stringify(tree), /hunter2/);
	t.like(tree, { plugins: { '@x/auth-password': { bucket: 'files', credentials: { list: ['(set)', '(set)'] } } } });
});

test('an address of a database in a message is not shown', (t) => {
	t.is(
		withoutDatabaseUrls("unknown option '--url=mysql://me:hunter2@db/x' and more"),
		"unknown option '--url=mysql://*** and more",
	);
});

const refusedQuietly = async (t: ExecutionContext, yaml: string, expected: RegExp) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-secrets-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const file = path.join(folder, 'stowage.yaml');
	await writeFile(file, yaml);
	const error = t.throws(() => loadConfig({ flags: { '--config': file } }), { instanceOf: ConfigError });
	t.regex(error?.message ?? '', expected);
	for (let each: unknown = error; each instanceof Error; each = each.cause)
		t.notRegex(`${each.message}${each.stack}`, /hunter2/);
};
for (const [yaml, expected] of [
	['database_url: mysql://me:hunter2@db/stowage\n', /There is no setting database_url/],
	['mysql: mysql://me:hunter2@db/stowage\n', /There is no setting mysql/],
	['store: {password: hunter2}\n', /There is no setting store/],
	['databaseUrl: [mysql://me:hunter2@db/stowage]\n', /setting databaseUrl/],
	['databaseUrl: postgres://me:hunter2@db/stowage\n', /setting databaseUrl/],
	['host: [mysql://me:hunter2@db/stowage]\n', /setting host/],
	['plugins: \'{"x": {"password": "hunter2"\'\n', /setting plugins/],
	['plugins: {x: hunter2}\n', /setting plugins/],
	['databaseUrl: mysql://me:hunter2@db/stowage: x\n', /not valid YAML: .* at line 1, column 14/],
	['sessionKey: *hunter2\n', /not valid YAML: an alias is not defined/],
	['sessionKey: "hunter2\nport: 1\n', /not valid YAML: .* at line/],
] as const)
	test(`a configuration is refused without its secrets: ${JSON.stringify(yaml)}`, refusedQuietly, yaml, expected);

const malformed = (indicator: string) => [
	`sessionKey: ${indicator}hunter2\n`,
	`sessionKey: ${indicator}hunter2: x\n`,
	`plugins:\n  x:\n    password: ${indicator}hunter2\n    name: x\n`,
];

test('what is no YAML is refused without a secret, whatever sign that begins with', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-secrets-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const file = path.join(folder, 'stowage.yaml');
	const refused: string[] = [];
	const signs = '| > ! & * % @ ` " \' [ { } ] , ? - : # < = ~ |2 >+'.split(' ');
	for (const indicator of [
		...signs,
		'!x!',
		'!<',
		'"\\',
		'"\\x',
		'"\\U',
		'&a &',
		'&a *',
		'!a !',
		'%YAML ',
		'- ',
		'? ',
	]) {
		for (const yaml of malformed(indicator)) {
			await writeFile(file, yaml);
			try {
				loadConfig({ flags: { '--config': file } });
			} catch (error) {
				t.true(error instanceof ConfigError, `${yaml}: ${error}`);
				for (let each = error; each instanceof Error; each = each.cause as Error)
					t.notRegex(`${each.message}${each.stack}`, /hunter2/, yaml);
				if (yaml.startsWith('sessionKey') && /not valid YAML: /.test(String(error))) refused.push(indicator);
			}
		}
	}
	t.deepEqual(
		['|', '>', '!x!', '*', '%', '@', '`', '"\\'].filter((each) => !refused.includes(each)),
		[],
	);
});

const refusedAt = (t: ExecutionContext, yaml: string, expected: string) =>
	refusedQuietly(t, yaml, new RegExp(expected));

for (const [yaml, expected] of [
	['port: 1\nsessionKey: |hunter2\n', 'a value that begins with a sign is written in quotes. at line 2, column 14'],
	['sessionKey: "\\qhunter2"\n', 'a backslash begins no known escape sequence .* at line 1, column 14'],
	['sessionKey: @hunter2\n', 'begins with a character that is reserved .* at line 1, column 13'],
	['sessionKey: !x!hunter2\n', 'a tag is not known .* at line 1, column 13'],
] as const)
	test(`what is wrong in a configuration is said by its place: ${JSON.stringify(yaml)}`, refusedAt, yaml, expected);

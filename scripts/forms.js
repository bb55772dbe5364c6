import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { leftOut } from '../test/forms/leftOut.js';
import { compile } from './compile.js';
import { root } from './run.js';
import { runSuites } from './suites.js';

/**
 * Runs the tests of the API as they are, with several servers in place of each one, which are asked in turn. The words
 * are one of the forms, or none for all of them, and test files.
 */
const [given, ...words] = process.argv.slice(2);
const forms = { workers: withoutServers, processes: withMariadb, nodes: withGalera };
if (given !== undefined && !Object.hasOwn(forms, given))
	throw new Error(`There is no form ${given}, but ${Object.keys(forms).join(', ')}.`);
await compile();
const counts = [];
for (const [form, withServers] of Object.entries(forms)) {
	if (given !== undefined && form !== given) continue;
	console.log(`\n== ${form}`);
	for (const { title, forms: concerned = [form], reason } of leftOut)
		if (concerned.includes(form)) console.log(`  - left out: ${title}: ${reason}`);
	counts.push({ form, ...(await withServers((databases) => runForm(form, databases))) });
}
console.log('');
for (const { form, passed, failed } of counts) console.log(`${form}: ${passed} passed, ${failed} failed`);
process.exit(counts.some(({ passed, failed }) => failed > 0 || passed === 0) ? 1 : 0);

async function runForm(form, databases) {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-forms-'));
	const { sharedServersVariable } = await compiled('packages/database/test/sharedServers.js');
	try {
		const { passed, failed, lines } = await runSuites({
			clone: root,
			args: ['--config', 'ava.forms.config.js', ...words],
			env: {
				...process.env,
				LC_ALL: 'C.UTF-8',
				STOWAGE_TEST_FORM: form,
				[sharedServersVariable]: databases.join(' '),
			},
			records: path.join(folder, 'records'),
			isRetried: () => false,
			print: console.log,
		});
		if (failed > 0) console.log(`\n== failed\n${lines.join('\n')}`);
		return { passed, failed };
	} finally {
		await rm(folder, { recursive: true });
	}
}

function withoutServers(use) {
	return use([]);
}

async function withMariadb(use) {
	const { startMariadb } = await compiled('packages/database/test/mariadb.js');
	const mariadb = await startMariadb();
	try {
		return await use(await migrated([await mariadb.createDatabase()]));
	} finally {
		await mariadb.close();
	}
}

async function withGalera(use) {
	const { startGalera } = await compiled('packages/database/test/galera.js');
	const galera = await startGalera();
	try {
		return await use(await migrated(await galera.createDatabase()));
	} finally {
		await galera.close();
	}
}

async function migrated(urls) {
	const { openDatabase } = await compiled('packages/database/src/index.js');
	const database = await openDatabase(urls[0]);
	await database.close();
	return urls;
}

function compiled(file) {
	return import(pathToFileURL(path.join(root, 'dist', file)).href);
}

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import { parse } from 'yaml';
import { dataDirFault } from '../../src/config/dataDir.js';
import { flagOf, settingNames, variableOf } from '../../src/config/leaves.js';
import { ConfigError, isStartupMistake, loadConfig } from '../../src/config/load.js';
import { configSchema, durationText } from '../../src/config/schema.js';

async function fileWith(t: { teardown(end: () => Promise<void>): void }, text: string): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-config-'));
	t.teardown(() => rm(folder, { recursive: true }));
	const file = path.join(folder, 'stowage.yaml');
	await writeFile(file, text);
	return file;
}

const defaultFile = new URL('../../../../config/default.yaml', import.meta.url);

test('config/default.yaml documents every setting with its default', async (t) => {
	const text = await readFile(defaultFile, 'utf8');
	for (const name of settingNames) t.regex(text, new RegExp(`^\\s*(# )?${name.split('.').at(-1)}:`, 'm'), name);
	const file = await fileWith(t, text);
	const { plugins, ...documented } = loadConfig({ flags: { '--config': file } });
	const { plugins: none, ...defaults } = loadConfig({ cwd: path.dirname(file) });
	t.deepEqual(documented, defaults);
	t.deepEqual([...none], [], 'the core itself enables no plugins');
	t.true([...plugins].every(([, options]) => Object.keys(options).length === 0));
	t.truthy(parse(text));
});

/** Limits for visitors, without which anyone could fill a server on the internet. */
const visitorLimits = [
	['uploads', 'anonymousBytesPerHour'],
	['uploads', 'anonymousFilesPerHour'],
	['uploads', 'anonymousTotalBytesPerHour'],
	['uploads', 'anonymousTotalFilesPerHour'],
	['uploads', 'anonymousUnfinished'],
	['uploads', 'anonymousMetadataSize'],
	['quotas', 'anonymousBytes'],
	['quotas', 'anonymousEntries'],
] as const;

test('uploads of visitors are limited by default, and 0 removes each limit', (t) => {
	type Groups = Record<string, Record<string, unknown>>;
	const defaults = loadConfig({}) as unknown as Groups;
	t.is(defaults.uploads?.freeSpaceReserve, 'auto');
	for (const [group, name] of visitorLimits) {
		t.true(Number(defaults[group]?.[name]) > 0, name);
		const without = loadConfig({ flags: { [flagOf(`${group}.${name}`)]: '0' } }) as unknown as Groups;
		t.is(without[group]?.[name], 0, name);
	}
});

test('the variable and the flag of a setting a.bC are STOWAGE_A_B_C and --a-b-c', (t) => {
	t.is(variableOf('uploads.maxFileSize'), 'STOWAGE_UPLOADS_MAX_FILE_SIZE');
	t.is(flagOf('uploads.maxFileSize'), '--uploads-max-file-size');
	t.is(flagOf('dataDir'), '--data-dir');
});

test('a flag overrides a variable, a variable the file, and the file the default', async (t) => {
	const file = await fileWith(t, 'port: 1\nhost: 10.0.0.1\nregistration: closed\n');
	const config = loadConfig({
		flags: { '--config': file, '--port': '3' },
		env: { STOWAGE_PORT: '2', STOWAGE_HOST: '10.0.0.2' },
	});
	t.is(config.port, 3);
	t.is(config.host, '10.0.0.2');
	t.is(config.registration, 'closed');
	t.is(config.publicListing, 'own');
});

test('a relative path in the file is resolved from the file’s folder, one in a flag from the working directory', async (t) => {
	const file = await fileWith(t, 'dataDir: ./inside\n');
	t.is(loadConfig({ flags: { '--config': file }, cwd: '/srv' }).dataDir, path.join(path.dirname(file), 'inside'));
	t.is(loadConfig({ flags: { '--config': file, '--data-dir': 'here' }, cwd: '/srv' }).dataDir, '/srv/here');
});

test('a relative database path in the file is resolved from the file’s folder, also with another data folder', async (t) => {
	const file = await fileWith(t, 'databaseUrl: sqlite:./site.db\n');
	const { databaseUrl, baseDir } = loadConfig({ flags: { '--config': file, '--data-dir': 'here' }, cwd: '/srv' });
	t.is(databaseUrl, `sqlite:${path.join(path.dirname(file), 'site.db')}`);
	t.is(baseDir, path.dirname(file));
});

test('the database is in the data folder unless databaseUrl is set', (t) => {
	t.is(loadConfig({ cwd: '/srv' }).databaseUrl, 'sqlite:/srv/data/stowage.db');
	t.is(loadConfig({ flags: { '--database-url': 'mysql://a:b@c:3306/d' } }).databaseUrl, 'mysql://a:b@c:3306/d');
});

test('a size may have a unit', (t) => {
	t.is(loadConfig({ env: { STOWAGE_UPLOADS_MAX_FILE_SIZE: '2 GB' } }).uploads.maxFileSize, 2 * 1024 ** 3);
});

const refused = (t: import('ava').ExecutionContext, sources: Parameters<typeof loadConfig>[0], ...parts: string[]) => {
	const error = t.throws(() => loadConfig(sources), { instanceOf: ConfigError });
	for (const part of parts) t.true(error?.message.includes(part), `${error?.message} contains ${part}`);
};
test(
	'an invalid port is refused with its flag and value',
	refused,
	{ flags: { '--port': 'http' } },
	'port',
	'--port',
	'"http"',
	'whole number',
);
test('a port out of range is refused', refused, { flags: { '--port': '70000' } }, 'port', '65535');
test(
	'an invalid choice is refused with the allowed ones',
	refused,
	{ env: { STOWAGE_REGISTRATION: 'maybe' } },
	'registration',
	'STOWAGE_REGISTRATION',
	'"maybe"',
	'open, closed',
);
test('a duration is accepted in words, as a number and as it is printed', (t) => {
	const expireAfter = (value: string) => loadConfig({ flags: { '--uploads-expire-after': value } }).uploads.expireAfter;
	t.is(expireAfter('90 minutes'), 5_400_000);
	t.is(expireAfter('1.5 hours'), 5_400_000);
	t.is(expireAfter('5400000'), 5_400_000);
	for (const [text, shown] of [
		['7 days', '7 days'],
		['1 day', '1 day'],
		['36 hours', '36 hours'],
		['90.5 seconds', '90.5 seconds'],
		['1.2345 hours', '4444.2 seconds'],
	] as const) {
		t.is(durationText(expireAfter(text)), shown);
		t.is(expireAfter(shown), expireAfter(text));
	}
	t.is(loadConfig().uploads.expireAfter, 7 * 24 * 60 * 60_000);
});
test(
	'a short duration without a unit is refused',
	refused,
	{ flags: { '--uploads-expire-after': '7' } },
	'uploads.expireAfter',
	'--uploads-expire-after',
	'"7"',
	'7 days',
);
test('where 0 is allowed, a small number without its unit is refused with an example', (t) => {
	for (const [flag, value] of [
		['--drain-delay', '5'],
		['--drain-delay', '999'],
		['--drain-delay', '11 seconds'],
		['--trash-keep-for', '30'],
		['--versions-keep-for', '7'],
		['--shares-max-lifetime', '30'],
	] as const)
		refused(
			t,
			{ flags: { [flag]: value } },
			flag,
			'with its unit',
			flag === '--drain-delay' ? "'5 seconds'" : "'7 days'",
		);
	const drainDelay = (value: string) => loadConfig({ flags: { '--drain-delay': value } }).drainDelay;
	t.deepEqual(['0', '0.5 seconds', '5 seconds', '0 seconds'].map(drainDelay), [0, 500, 5000, 0]);
	t.is(drainDelay('5000'), 5000, 'as older versions have written it');
});

test('a wrong value of any setting is refused with what is allowed, in the words of this product', (t) => {
	const others = [1e300, 'a text with\nlines', ['list', 5, null], null, { map: 1 }, false];
	for (const name of settingNames) {
		for (const value of others) {
			const tree = name.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
			for (const { code, message } of configSchema.safeParse(tree).error?.issues ?? [])
				if (code !== 'unrecognized_keys') t.regex(message, /(^| )must /, `${name}: ${JSON.stringify(value)}`);
		}
		const group = name.split('.').slice(0, -1);
		const tree = group.reduceRight<unknown>((inner, key) => ({ [key]: inner }), 5);
		for (const { message } of group.length === 0 ? [] : (configSchema.safeParse(tree).error?.issues ?? []))
			t.regex(message, /^must /, name);
	}
});

test('an unknown or unusable variable is a warning, since service managers set some by themselves', (t) => {
	const config = loadConfig({
		env: {
			STOWAGE_PROT: '1',
			STOWAGE_PORT: 'tcp://10.0.0.7:7420',
			STOWAGE_SERVICE_HOST: '10.0.0.7',
			STOWAGE_PORT_7420_TCP_ADDR: '10.0.0.7',
			STOWAGE_HOST: '0.0.0.0',
			STOWAGE_CONFIG: '',
		},
	});
	t.is(config.port, 7420);
	t.is(config.host, '0.0.0.0');
	t.deepEqual(
		config.warnings.map((warning) => /STOWAGE_\w+/.exec(warning)?.[0]),
		['STOWAGE_PROT', 'STOWAGE_PORT', 'STOWAGE_SERVICE_HOST', 'STOWAGE_PORT_7420_TCP_ADDR'],
	);
	t.regex(config.warnings[1] ?? '', /Kubernetes/);
});
test('an unknown flag is refused', refused, { flags: { '--prot': '1' } }, '--prot', '--port');
test(
	'an invalid size is refused',
	refused,
	{ flags: { '--uploads-max-file-size': 'big' } },
	'uploads.maxFileSize',
	'"big"',
);
test('an invalid public URL is refused', refused, { flags: { '--public-url': 'files' } }, 'publicUrl', 'https://');
for (const path of ['/a/', '/..', '/a/../b', '/.', '/a/.', 'a', '/a//b']) {
	test(`the base path ${path} is refused`, refused, { flags: { '--base-path': path } }, 'basePath');
}
test('a base path may contain dots', (t) => {
	t.is(loadConfig({ flags: { '--base-path': '/v1.2/...x/.files' } }).basePath, '/v1.2/...x/.files');
});
for (const proxy of ['10.0.0.0/33', 'proxy.example.org', '::/129', '1.2.3.4/x', '1.2.3.4/8/8', '10.0.0.0/']) {
	const flags = { '--trusted-proxies': `127.0.0.1,${proxy}` };
	test(
		`the trusted proxy ${proxy} is refused`,
		refused,
		{ flags },
		'trustedProxies',
		JSON.stringify(proxy),
		'10.0.0.0/8',
	);
}
test(
	'a missing configuration file is refused with its name',
	refused,
	{ flags: { '--config': '/nowhere/a.yaml' } },
	'/nowhere/a.yaml',
);

test('an unknown key in the file is refused with its name and value', async (t) => {
	const file = await fileWith(t, 'uploads:\n  maxSize: 5\n');
	refused(t, { flags: { '--config': file } }, 'uploads.maxSize', '5', 'uploads.maxFileSize', file);
});

test('a value of the wrong type in the file is refused with its name', async (t) => {
	const file = await fileWith(t, 'uploads: 5\n');
	refused(t, { flags: { '--config': file, '--uploads-max-file-size': '1' } }, 'uploads', '5');
});

test('an unknown key that looks like a secret is refused without its value', async (t) => {
	const file = await fileWith(t, 'sesionKey: my-very-own-secret\n');
	const error = t.throws(() => loadConfig({ flags: { '--config': file } }), { instanceOf: ConfigError });
	t.regex(error?.message ?? '', /sesionKey/);
	t.notRegex(error?.message ?? '', /very-own/);
});

test('default plugins stay enabled beside configured ones, and false disables one', async (t) => {
	const file = await fileWith(t, 'plugins:\n  other: {a: 1}\n  first: false\n');
	const config = loadConfig({ flags: { '--config': file }, defaultPlugins: ['first', 'second'] });
	t.deepEqual(
		[...config.plugins],
		[
			['second', {}],
			['other', { a: 1 }],
		],
	);
	t.deepEqual(config.disabledPlugins, ['first']);
});

test('a data folder whose disk is away is tried again by a service manager, and one that is not the user’s own is not', (t) => {
	const fault = (code: string) => dataDirFault('/data', Object.assign(new Error('failed'), { code }));
	for (const code of ['EIO', 'ESTALE', 'ENODEV']) t.false(isStartupMistake(fault(code)), code);
	for (const code of ['EACCES', 'ENOTDIR', 'EROFS']) t.true(isStartupMistake(fault(code)), code);
	t.is(fault('EIO').message, "The data folder /data can't be used (EIO): its disk is away or damaged.");
});

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import { pino } from 'pino';
import { settingNames } from '../../src/config/leaves.js';
import { liveSettings, settingOf } from '../../src/config/reload.js';
import { createApp, loadConfig } from '../../src/index.js';
import { Client, testApp } from '../testApp.js';
import { create } from '../tusClient.js';

test('a reload applies the settings that can change at once, and lists those that need a restart', async (t) => {
	const app = await testApp(t, { '--registrations-per-hour': '1' });
	const next = (flags: Record<string, string>) => ({
		...loadConfig({ flags: { '--data-dir': app.dataDir, '--port': '0', '--search-index': 'false', ...flags } }),
		plugins: app.services.config.plugins,
	});
	const register = (name: string) =>
		new Client(app).call('POST', '/api/register', {
			username: name,
			password: 'correct horse',
			passwordConfirm: 'correct horse',
		});
	t.is((await register('ada')).statusCode, 200);
	t.is((await register('bob')).statusCode, 429);
	const upload = () => create(new Client(app), 12, { filename: 'a.txt' }, {}, 'twelve bytes');
	t.is((await upload()).statusCode, 201);

	const reloaded = app.reload(
		next({ '--uploads-max-file-size': '5', '--log-level': 'debug', '--port': '1', '--thumbnails-cache-size': '0' }),
	);
	t.deepEqual(reloaded.applied, ['registrationsPerHour', 'uploads.maxFileSize', 'log.level']);
	t.deepEqual(reloaded.needRestart, ['port', 'thumbnails.cacheSize']);
	t.is((await register('bob')).statusCode, 200, 'the default is 300');
	t.is((await upload()).statusCode, 413);
	t.is(app.services.config.port, 0, 'a setting that needs a restart keeps its value');

	const again = app.reload(next({ '--registration': 'closed', '--uploads-anonymous-files-per-hour': '1' }));
	t.deepEqual(again.needRestart, []);
	t.is((await register('eve')).statusCode, 403);
	t.is((await upload()).statusCode, 429);
});

test('a reload changes the level of the plugins’ logs as well', async (t) => {
	const app = await testApp(t);
	const early = app.server.logOf('early') as { level?: string };
	app.reload({ ...app.services.config, log: { level: 'error' } });
	t.is(early.level, 'error');
	t.is(app.services.log.level, 'error');
});

test('an upload is kept for as long as the configuration says now', async (t) => {
	const app = await testApp(t);
	const kept = async () => {
		const { headers } = await create(new Client(app), 12, { filename: 'a.txt' });
		return Date.parse(String(headers['upload-expires'])) - Date.now();
	};
	t.true((await kept()) > 20 * 60 * 60_000);
	const { config } = app.services;
	app.reload({ ...config, uploads: { ...config.uploads, expireAfter: 60 * 60_000 } });
	t.true((await kept()) <= 60 * 60_000);
});

test('no setting that a reload applies is read as the server is put together, but for those that are used by then', async (t) => {
	const dataDir = await mkdtemp(path.join(os.tmpdir(), 'stowage-reload-'));
	t.teardown(() => rm(dataDir, { recursive: true, force: true }));
	const config = loadConfig({
		flags: { '--data-dir': dataDir, '--port': '0' },
		defaultPlugins: ['@stowage/storage-local', '@stowage/auth-password', '@stowage/zip'],
	});
	const read = new Set<string>();
	for (const name of settingNames) {
		if (!liveSettings.some((each) => name === each || name.startsWith(`${each}.`))) continue;
		const keys = name.split('.');
		const last = keys.pop() as string;
		const group = (keys.length === 0 ? config : settingOf(config, keys.join('.'))) as Record<string, unknown>;
		const value = group[last];
		Object.defineProperty(group, last, { get: () => read.add(name) && value, enumerable: true, configurable: true });
	}
	const app = await createApp(config, { log: pino({ level: 'silent' }) });
	const readByThen = [...read].sort();
	await app.stop();
	// For the warning of what strangers may do, and the first line of the audit log.
	t.deepEqual(readByThen, ['audit.keepFor', 'audit.maxSize', 'registration', 'visitors']);
});

test('docs/operations.md lists the settings that a reload applies', async (t) => {
	const text = await readFile('docs/operations.md', 'utf8');
	const [section = ''] = text.split('## Reading the configuration again')[1]?.split('\n## ') ?? [];
	const listed = [...section.matchAll(/^- `([\w.]+)`/gm)].map(([, name]) => name);
	t.deepEqual(listed, [...liveSettings]);
});

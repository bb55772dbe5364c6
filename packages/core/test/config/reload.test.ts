import { readFile } from 'node:fs/promises';
import test from 'ava';
import { liveSettings } from '../../src/config/reload.js';
import { loadConfig } from '../../src/index.js';
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

test('docs/operations.md lists the settings that a reload applies', async (t) => {
	const text = await readFile('docs/operations.md', 'utf8');
	const [section = ''] = text.split('## Reading the configuration again')[1]?.split('\n## ') ?? [];
	const listed = [...section.matchAll(/^- `([\w.]+)`/gm)].map(([, name]) => name);
	t.deepEqual(listed, [...liveSettings]);
});

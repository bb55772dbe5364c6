import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { Client, json, testApp } from '../testApp.js';

test('the calls of a plugin that is not installed are answered as the contract says', async (t) => {
	const app = await testApp(t);
	const visitor = new Client(app);
	t.is((await visitor.get('/api/handbrake/check')).statusCode, 401);
	const ada = await new Client(app).register('ada');
	t.deepEqual(json(await ada.get('/api/handbrake/check')), { available: false });
	const wanted = { filePath: 'a.mkv', outputFormat: 'mp4', quality: 22, deleteOriginal: false };
	const refused = await ada.post('/api/handbrake/convert', wanted);
	t.is(refused.statusCode, 503);
	t.like(json(refused), { message: 'HandBrake CLI is not available' });
	t.is((await ada.post('/api/handbrake/convert', { ...wanted, quality: 17 })).statusCode, 400);
});

test('a plugin handles its optional calls, also below a base path, and sets the capabilities that pages get', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-plugin-'));
	t.teardown(() => rm(folder, { recursive: true }));
	const pluginApi = import.meta.resolve('@stowage/plugin-api');
	const contract = import.meta.resolve('@stowage/contract');
	await writeFile(
		path.join(folder, 'plugin.mjs'),
		`import { definePlugin, route, z } from ${JSON.stringify(pluginApi)};
import { handbrakeCheck } from ${JSON.stringify(contract)};
export const plugin = definePlugin({
	name: 'converter', version: '1.0.0', needs: [], options: z.strictObject({}),
	start(server) {
		server.providers.capability.register('handbrake', () => true);
		server.route(route(handbrakeCheck, () => ({ available: true, version: '1.6.1' })));
	},
});`,
	);
	const { href } = pathToFileURL(path.join(folder, 'plugin.mjs'));
	const app = await testApp(t, {
		'--base-path': '/files',
		'--plugins': JSON.stringify({
			[href]: {},
			'@stowage/auth-password': { memoryKiB: 19456, iterations: 2, parallelism: 1 },
		}),
	});
	const ada = new Client(app);
	const password = 'correct horse';
	await ada.post('/files/api/register', { username: 'ada', password, passwordConfirm: password });
	t.deepEqual(json(await ada.get('/files/api/handbrake/check')), { available: true, version: '1.6.1' });
	t.is(
		(await ada.post('/files/api/handbrake/cancel/x', undefined)).statusCode,
		503,
		'a call that the plugin does not define is unavailable',
	);
	t.like(json(await ada.get('/files/api/capabilities')), { handbrake: true });
});

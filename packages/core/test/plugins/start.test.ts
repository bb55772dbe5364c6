import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { pino } from 'pino';
import { createApp, loadConfig } from '../../src/index.js';

const defaultPlugins = ['@stowage/storage-local', '@stowage/auth-password'];

/** A plugin whose storage records what is opened and closed. */
const recording = `
export const opened = [];
export const closed = [];
export const plugin = {
	name: 'recording',
	version: '1.0.0',
	needs: [],
	options: { safeParse: (data) => ({ success: true, data }) },
	start({ providers }) {
		providers.storage.register('recording', {
			async open(rootId) {
				const storage = await providers.storage.get('local').open(rootId);
				const { close } = storage;
				opened.push(storage.rootId);
				storage.close = () => {
					closed.push(storage.rootId);
					return close.call(storage);
				};
				return storage;
			},
		});
	},
};`;

test('a start that fails after the storage was opened closes it', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-start-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const file = path.join(folder, 'recording.mjs');
	await writeFile(file, recording);
	const { href } = pathToFileURL(file);
	const flags = {
		'--data-dir': folder,
		'--port': '0',
		'--storage': 'recording',
		'--plugins': JSON.stringify({ [href]: {} }),
	};
	const config = loadConfig({ flags, defaultPlugins });
	const log = pino({ level: 'silent' });
	await t.throwsAsync(createApp(config, { webRoot: path.join(folder, 'nowhere'), log }), { code: 'ENOENT' });
	const { opened, closed } = (await import(href)) as { opened: string[]; closed: string[] };
	t.not(opened.length, 0);
	t.is(closed.length, opened.length);
});

import { readFileSync } from 'node:fs';
import { createApp, loadConfig } from '../../../packages/core/dist/index.js';

/**
 * A server that can be made to fail: `serve.js <flags as JSON> [commits] [clock] [replacements]`. It kills itself
 * right after that many files were published, or were replaced, before the client gets an answer; its clock is off by
 * the milliseconds in the file `clock`.
 */
const [flags = '{}', commits = '0', clock = '', replacements = '0'] = process.argv.slice(2);
const realNow = Date.now;
if (clock !== '') Date.now = () => realNow() + Number(readFileSync(clock, 'utf8'));

const defaultPlugins = ['@stowage/storage-local', '@stowage/auth-password'];
const app = await createApp(loadConfig({ flags: JSON.parse(flags), defaultPlugins }));
const { storage } = app.services;
const stage = storage.stage.bind(storage);
let left = Number(commits);
storage.stage = async (id) => {
	const staged = await stage(id);
	const commit = staged.commit.bind(staged);
	staged.commit = async (path, options) => {
		const item = await commit(path, options);
		if (--left === 0) process.kill(process.pid, 'SIGKILL');
		return item;
	};
	return staged;
};
const address = await app.start();
let replacementsLeft = Number(replacements);
const thenDies = (replace) => {
	return async (...call) => {
		const item = await replace(...call);
		if (typeof call.at(-1)?.onConflict === 'object' && --replacementsLeft === 0) process.kill(process.pid, 'SIGKILL');
		return item;
	};
};
for (const { storage: root } of app.services.roots.all()) {
	const begin = root.stage.bind(root);
	root.stage = async (id) => {
		const staged = await begin(id);
		staged.commit = thenDies(staged.commit.bind(staged));
		return staged;
	};
	root.copy = thenDies(root.copy.bind(root));
	root.move = thenDies(root.move.bind(root));
}
console.log(`ready at ${address}`);

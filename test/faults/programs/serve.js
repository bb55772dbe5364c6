import { readFileSync } from 'node:fs';
import { createApp, loadConfig } from '../../../packages/core/dist/index.js';

/**
 * A server that can be made to fail: `serve.js <flags as JSON> [commits] [clock]`. It kills itself right after that many files were published, before the client gets
 * an answer; its clock is off by the milliseconds in the file `clock`.
 */
const [flags = '{}', commits = '0', clock = ''] = process.argv.slice(2);
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
console.log(`ready at ${await app.start()}`);

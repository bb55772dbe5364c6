import * as fs from 'node:fs';
import test from 'ava';
import { FolderSyncs } from '../src/root/FolderSyncs.js';
import { nodeCalls } from '../src/system/nodeCalls.js';
import { Folder } from '../src/system/openFolder.js';
import { temporaryFolder } from './steps.js';

/** Counts the started syncs, each of which runs until `finish`. */
class CountedSyncs extends FolderSyncs {
	begun = 0;
	#finish: (() => void)[] = [];

	protected override syncNow(): Promise<void> {
		this.begun++;
		return new Promise((resolve) => this.#finish.push(resolve));
	}

	async finish(): Promise<void> {
		this.#finish.shift()?.();
		await new Promise((resolve) => setImmediate(resolve));
	}
}

test('requests during a sync share the next one, which begins after them', async (t) => {
	using folder = new Folder(fs.openSync(await temporaryFolder(t), fs.constants.O_RDONLY));
	using same = new Folder(fs.openSync(folder.path, fs.constants.O_RDONLY));
	using other = new Folder(fs.openSync(await temporaryFolder(t), fs.constants.O_RDONLY));
	const syncs = new CountedSyncs(nodeCalls);
	const ended: string[] = [];
	const requestSync = (name: string, of: Folder) => syncs.sync(of).then(() => ended.push(name));
	void requestSync('first', folder);
	for (const name of ['second', 'third', 'fourth']) void requestSync(name, name === 'third' ? same : folder);
	t.is(syncs.begun, 1);
	void requestSync('elsewhere', other);
	t.is(syncs.begun, 2);
	await syncs.finish();
	t.deepEqual(ended, ['first']);
	t.is(syncs.begun, 3);
	void requestSync('fifth', folder);
	await syncs.finish();
	t.deepEqual(ended, ['first', 'elsewhere']);
	await syncs.finish();
	t.deepEqual(ended.slice(2), ['second', 'third', 'fourth']);
	t.is(syncs.begun, 4);
	await syncs.finish();
	t.is(ended.at(-1), 'fifth');
});

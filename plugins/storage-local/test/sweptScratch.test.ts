import { readdir, rmdir, unlink } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { type AccessStorage, hasAccess, type ItemAccess } from '@stowage/plugin-api';
import test from 'ava';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { systemError } from '../src/system/systemErrors.js';
import { best, localStorage, p, put, readText, refused } from './steps.js';

/** Removes scratch files as a sweep of another process does that opens the same root. */
async function sweepScratch(root: string): Promise<number> {
	const staging = join(root, '.stowage/staging');
	const items = (await readdir(staging, { withFileTypes: true })).filter(({ name }) => name.startsWith('scratch-'));
	const removed = await Promise.allSettled(
		items.map((item) => (item.isDirectory() ? rmdir : unlink)(join(staging, item.name))),
	);
	return removed.filter(({ status }) => status === 'fulfilled').length;
}

for (const moment of ['before', 'after'] as const) {
	test(`a file system is tested for renaming also if the test file is swept ${moment} it is renamed`, async (t) => {
		let root = '';
		let swept = 0;
		let hasRefused = false;
		const calls: SystemCalls = {
			...best,
			async renameNoReplace(from, fromName, to, toName) {
				const isOurs = fromName.startsWith('scratch-');
				// The first one of a caller's is refused, so that it is tested.
				if (!isOurs && root !== '' && !hasRefused) {
					hasRefused = true;
					throw systemError('renameat2', constants.errno.EINVAL);
				}
				if (isOurs && swept === 0 && moment === 'before') swept += await sweepScratch(root);
				await best.renameNoReplace(from, fromName, to, toName);
				if (isOurs && swept === 0 && moment === 'after') swept += await sweepScratch(root);
			},
		};
		const opened = await localStorage(t, { calls });
		await put(opened.storage, 'file', 'mine');
		root = opened.root;
		// The refusal is the caller's own, since the file system can rename: nothing was wrong with the test.
		await refused(t, 'invalidName', () => opened.storage.move(p('file'), p('moved')));
		t.is(swept, 1);
		await opened.storage.move(p('file'), p('moved'));
		t.is(await readText(opened.storage, 'moved'), 'mine');
	});
}

const uses: Readonly<Record<string, (storage: AccessStorage, access: ItemAccess) => Promise<unknown>>> = {
	'a check of a disk': (storage) => storage.check(),
	'a trial of the access of files': (storage, access) => storage.findLostAccess('file', access),
	'a trial of the access of folders': (storage, access) => storage.findLostAccess('directory', access),
};

for (const [name, use] of Object.entries(uses)) {
	test(`${name} succeeds while its own test file is swept`, async (t) => {
		const { storage, root } = await localStorage(t);
		if (!hasAccess(storage)) return t.fail('It has no access.');
		const access = await storage.readAccess(p(''));
		let swept = 0;
		let hasEnded = false;
		const repeat = async () => {
			while (swept < 20) await use(storage, access);
		};
		const sweep = async () => {
			while (swept < 20 && !hasEnded) swept += await sweepScratch(root);
		};
		const used = repeat().finally(() => {
			hasEnded = true;
		});
		await t.notThrowsAsync(Promise.all([used, sweep()]));
	});
}

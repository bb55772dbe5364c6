import { fstatSync } from 'node:fs';
import { mkdir, readdir, rmdir, unlink } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { type AccessStorage, hasAccess, type ItemAccess } from '@stowage/plugin-api';
import test from 'ava';
import { copyItem } from '../src/changing/copyItem.js';
import { Disk } from '../src/root/Disk.js';
import { Root } from '../src/root/Root.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { systemError } from '../src/system/systemErrors.js';
import { sweepLeftovers, sweepStaging } from '../src/writing/sweep.js';
import { best, eventually, localStorage, p, plant, put, readText, refused } from './steps.js';

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

test.serial(
	'where locks of folders hold on one machine only, another one leaves what is being copied, and sweeps it once it is old',
	async (t) => {
		mock.timers.enable({ apis: ['setInterval'] });
		t.teardown(() => mock.timers.reset());
		const { storage, root } = await localStorage(t);
		/** As this machine and another one have it over a network. */
		const remote = (isSharing: boolean) => {
			const tryLock = (fd: number) => (fstatSync(fd).isDirectory() ? true : best.tryLock?.(fd));
			const calls = isSharing ? { ...best, tryLock } : best;
			const opened = new Root(root, storage.rootId, calls);
			Object.defineProperty(opened, 'isRemote', { get: () => true, set: () => {} });
			return new Disk(opened, calls);
		};
		await plant(root, Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`film/deep/${n}`, 'x'])));
		const other = remote(true);
		let seen = 0;
		const copied = await copyItem(remote(false), p('film'), p('copy'), {
			async beforeItem() {
				if (++seen !== 50) return;
				await sweepLeftovers(other);
				mock.timers.tick(60 * 60_000);
			},
		});
		t.is(copied.name, 'copy');
		t.is((await readdir(join(root, 'copy/deep'))).length, 100);

		const staging = join(root, '.stowage/staging');
		await mkdir(join(staging, 'scratch-crashed'));
		const cutoffs = { staged: 0, copies: 0 };
		await sweepStaging(other, cutoffs, async () => false);
		t.deepEqual(await readdir(staging), ['scratch-crashed']);
		const { now } = Date;
		Date.now = () => now() + 25 * 60 * 60_000;
		t.teardown(() => {
			Date.now = now;
		});
		await sweepStaging(other, cutoffs, async () => false);
		t.deepEqual(await readdir(staging), []);
	},
);

test.serial(
	'what a process has not removed before it ended is removed by a sweep of another one, once it is old',
	async (t) => {
		const { storage, root } = await localStorage(t);
		const removed = '.stowage/trash-in-progress';
		await plant(root, { 'folder/file': 'x', [`${removed}/killed/deep/file`]: 'x' });
		const sweep = () => storage.sweepStaging({ staged: 0, copies: 0 }, async () => false);
		await sweep();
		await storage.remove(p('folder'));
		await eventually(t, async () => `${await readdir(join(root, removed))}` === 'killed');
		const { now } = Date;
		Date.now = () => now() + 61 * 60_000;
		t.teardown(() => {
			Date.now = now;
		});
		await sweep();
		await eventually(t, async () => (await readdir(join(root, removed))).length === 0);
	},
);

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

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';

const run = promisify(execFile);

/** A disk image that is written as late as possible, so that nothing is durable by chance. */
export interface SmallDisk {
	/** Where it is mounted. */
	folder: string;
	/** Mounts the disk as it would be found if the power failed now, and calls `read` with its folder. */
	afterPowerCut<T>(read: (folder: string) => Promise<T>): Promise<T>;
}

/** Ten minutes: only synced data is written before. */
const lateWrites = 'loop,commit=600,noatime';

/** Undefined where no disk image can be mounted: not root, not Linux, or no loop devices. */
export async function mountSmallDisk(
	t: ExecutionContext,
	megabytes: number,
	makeOptions: readonly string[] = [],
): Promise<SmallDisk | undefined> {
	const place = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	t.teardown(() => rm(place, { recursive: true, force: true }));
	const image = path.join(place, 'image');
	const folder = path.join(place, 'mounted');
	await mkdir(folder);
	try {
		await writeFile(image, '');
		await truncate(image, megabytes * 1024 * 1024);
		await run('mkfs.ext4', ['-q', '-F', ...makeOptions, image]);
		await run('mount', ['-o', lateWrites, image, folder]);
	} catch (error) {
		t.log(`no disk image can be mounted here: ${error instanceof Error ? error.message : error}`);
		return undefined;
	}
	t.teardown(() => run('umount', ['-l', folder]));
	let cuts = 0;
	return {
		folder,
		async afterPowerCut(read) {
			const copy = path.join(place, `cut-${++cuts}`);
			const found = `${copy}-mounted`;
			await run('cp', ['--sparse=always', image, copy]);
			await mkdir(found);
			await run('mount', ['-o', 'loop', copy, found]);
			try {
				return await read(found);
			} finally {
				await run('umount', [found]);
				await rm(copy);
			}
		},
	};
}

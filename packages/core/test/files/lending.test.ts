import { writeSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { DatabaseFull } from '@stowage/database';
import {
	type DescriptorFile,
	Failure,
	parsePath,
	type StagedFile,
	spawnLimited,
	type Viewer,
} from '@stowage/plugin-api';
import { noFreeSpace } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { withStagedDescriptor } from '../../src/files/placing/withStagedDescriptor.js';
import { Client, reportSpace, testApp } from '../testApp.js';
import { until } from '../until.js';

const megabyte = 1024 ** 2;
const home = { area: 'private', path: parsePath('') } as const;

async function appWithViewer(t: ExecutionContext, flags: Record<string, string> = {}) {
	const app = await testApp(t, { '--audit-record': 'off', ...flags });
	await new Client(app).register('alice');
	const { id } = (await app.services.database.users.find('alice')) ?? { id: '' };
	const viewer: Viewer = { kind: 'user', id, username: 'alice' };
	const { files, storage } = app.services;
	return { app, viewer, files, storage, staging: path.join(app.filesDir, '.stowage/staging') };
}

/** A program that writes a megabyte a step until its file counts as full. */
const writeUntilFull =
	(pace: (written: number, full: AbortSignal) => Promise<void>) => async (file: DescriptorFile) => {
		for (let written = 0; !file.full.aborted; written += megabyte) {
			writeSync(file.descriptor, Buffer.alloc(megabyte, 1), 0, megabyte, written);
			await pace(written + megabyte, file.full);
		}
		throw new Error('the program was ended');
	};

const publishes = test.macro(async (t, prepare: (staged: StagedFile) => StagedFile) => {
	const { app, viewer, files, storage } = await appWithViewer(t);
	const before = await readdir(app.dataDir);
	const stage = storage.stage.bind(storage);
	storage.stage = async (...place) => prepare(await stage(...place));
	const staged = await files.stage(viewer);
	const result = await files.withDescriptor(viewer, { staged, folder: home }, async ({ descriptor, maxBytes }) => {
		t.true(maxBytes > 0);
		writeSync(descriptor, 'world', 6);
		writeSync(descriptor, 'Hello ', 0);
		return 'result';
	});
	t.is(result, 'result');
	const entry = await files.publishOnce(viewer, home, { staged, name: 'greeting.txt' });
	t.is(entry.size, 11);
	t.is(await readFile(path.join(app.filesDir, 'users/alice/greeting.txt'), 'utf8'), 'Hello world');
	t.deepEqual(await readdir(app.dataDir), before);
});

test('a staged file that a program wrote is published', publishes, (staged) => staged);

test('on a storage without local files a file that a program wrote is published', publishes, (staged) => ({
	id: staged.id,
	size: () => staged.size(),
	append: (body, at) => staged.append(body, at),
	sync: () => staged.sync(),
	commit: (to, options) => staged.commit(to, options),
	discard: () => staged.discard(),
}));

test('a program’s file has no size limit if the storage does not know its free space', async (t) => {
	const { app, viewer, files } = await appWithViewer(t);
	reportSpace(app, { freeSpace: async () => undefined });
	const staged = await files.stage(viewer);
	const maxBytes = await files.withDescriptor(viewer, { staged, folder: home }, async (lent) => lent.maxBytes);
	t.is(maxBytes, Number.POSITIVE_INFINITY);
	const child = spawnLimited('sh', ['-c', 'ulimit -f'], { memoryBytes: 64 * megabyte, fileBytes: maxBytes });
	t.is((await text(child.stdout ?? Readable.from([]))).trim(), 'unlimited');
	await staged.discard();
});

test('a program can’t write a byte if no space is left', async (t) => {
	const { app, viewer, files, storage, staging } = await appWithViewer(t);
	reportSpace(app, { freeSpace: async () => 0 });
	const staged = await storage.stage();
	let maxBytes: number | undefined;
	const error = await t.throwsAsync(
		files.withDescriptor(viewer, { staged, folder: home }, async (lent) => {
			maxBytes = lent.maxBytes;
			const limits = { memoryBytes: 64 * megabyte, fileBytes: lent.maxBytes, files: [lent.descriptor] };
			const child = spawnLimited('sh', ['-c', 'ulimit -f; echo too much >/proc/self/fd/3'], limits);
			t.is((await text(child.stdout ?? Readable.from([]))).trim(), '0');
		}),
	);
	t.is(maxBytes, 0);
	t.is(error?.message, 'There is not enough free space.');
	t.is(await staged.size(), 0);
	await staged.discard();
	t.deepEqual(await readdir(staging), []);
});

const lacks = [
	new Failure('unavailable', 'The database is not available right now.'),
	new DatabaseFull(new Error('database or disk is full')),
];

test('a program writes on while nobody can be told how much that is, which is counted later', async (t) => {
	const { app, storage } = await appWithViewer(t);
	for (const [lack, isBackInTime] of lacks.flatMap((each) => [true, false].map((is) => [each, is] as const))) {
		const staged = await storage.stage();
		const sums = { counted: 0, refused: 0 };
		let isAway = true;
		const reserve = async (bytes: number) => {
			if (isAway) sums.refused++;
			if (isAway) throw lack;
			sums.counted += bytes;
		};
		const space = { assertSpace: async () => {}, available: async () => 100 * megabyte };
		const write = async ({ descriptor, full }: DescriptorFile) => {
			writeSync(descriptor, Buffer.alloc(megabyte, 1));
			while (sums.refused < 2 && !full.aborted) await wait(10);
			t.false(full.aborted);
			isAway = !isBackInTime;
			writeSync(descriptor, Buffer.alloc(megabyte, 1));
		};
		await withStagedDescriptor({ staged, space, reserve, temporaryFolder: app.dataDir }, write);
		t.is(sums.counted, isBackInTime ? 2 * megabyte : 0);
		t.is(await staged.size(), 2 * megabyte);
		await staged.discard();
	}
});

test('a disk that others fill while a whole file is only read takes nothing from it', async (t) => {
	const { app, storage } = await appWithViewer(t);
	const lend = async (use: (file: DescriptorFile, fill: () => Promise<void>) => Promise<string>) => {
		const staged = await storage.stage();
		let isFull = false;
		// A look at its size may come while it is written.
		let counted = 0;
		let hasSpace = false;
		const assertSpace = async () => {
			if (isFull) throw noFreeSpace();
			hasSpace = counted === megabyte;
		};
		const reserve = async (bytes: number) => {
			counted += bytes;
		};
		const space = { assertSpace, available: async () => 100 * megabyte };
		const lending = { staged, space, reserve, temporaryFolder: app.dataDir };
		try {
			return await withStagedDescriptor(lending, async (file) => {
				writeSync(file.descriptor, Buffer.alloc(megabyte, 1));
				return use(file, async () => {
					await until('the file has space', () => hasSpace);
					isFull = true;
				});
			});
		} finally {
			await staged.discard();
		}
	};
	const result = await lend(async ({ full }, fill) => {
		await fill();
		// Two looks at its size and more.
		await wait(1500);
		t.false(full.aborted);
		return 'checked';
	});
	t.is(result, 'checked');
	const writesOn = lend(async ({ descriptor, full }, fill) => {
		await fill();
		writeSync(descriptor, 'more');
		await until('it is ended', () => full.aborted);
		return 'too large';
	});
	await t.throwsAsync(writesOn, { message: 'There is not enough free space.' });
	const endsWithMore = lend(async ({ descriptor }, fill) => {
		await fill();
		writeSync(descriptor, 'more');
		return 'too large';
	});
	await t.throwsAsync(endsWithMore, { message: 'There is not enough free space.' });
});

test('what is counted late asks for no more space than is written between two checks', async (t) => {
	const { app, storage } = await appWithViewer(t);
	const staged = await storage.stage();
	const asked: number[] = [];
	let counted = 0;
	const space = {
		assertSpace: async (bytes = 0) => void asked.push(bytes),
		available: async () => 100 * megabyte,
	};
	const reserve = async (bytes: number) => {
		if (asked.length < 4) throw new Failure('unavailable', 'The database is not available right now.');
		counted += bytes;
	};
	const write = async ({ descriptor }: DescriptorFile) => {
		for (let checks = 1; checks < 6; checks++) {
			await until('it is checked', () => asked.length === checks);
			writeSync(descriptor, Buffer.alloc(megabyte, 1));
		}
		await until('it is checked', () => asked.length === 6);
	};
	await withStagedDescriptor({ staged, space, reserve, temporaryFolder: app.dataDir }, write);
	t.is(counted, 5 * megabyte);
	t.deepEqual(asked, [0, ...Array(5).fill(2 * megabyte)]);
	await staged.discard();
});

test('a program is ended before it uses the reserved free space', async (t) => {
	const reserve = 30 * megabyte;
	const { app, viewer, files, staging } = await appWithViewer(t, { '--uploads-free-space-reserve': `${reserve}` });
	let written = 0;
	let checks = 0;
	reportSpace(app, {
		freeSpace: async () => {
			checks++;
			return reserve + 64 * megabyte - written;
		},
	});
	const staged = await files.stage(viewer);
	// Eight megabytes between two checks, however long a busy machine takes for one.
	const pace = async (bytes: number, full: AbortSignal) => {
		written = bytes;
		const before = checks;
		while (bytes % (8 * megabyte) === 0 && checks === before && !full.aborted) await wait(10);
	};
	const error = await t.throwsAsync(files.withDescriptor(viewer, { staged, folder: home }, writeUntilFull(pace)));
	t.is(error?.message, 'There is not enough free space.');
	t.true(written < 64 * megabyte);
	await staged.discard();
	t.deepEqual(await readdir(staging), []);
});

test('a program is ended at the quota of its user', async (t) => {
	const { viewer, files, staging } = await appWithViewer(t, { '--quotas-user-bytes': `${10 * megabyte}` });
	const staged = await files.stage(viewer);
	const error = await t.throwsAsync(
		files.withDescriptor(
			viewer,
			{ staged, folder: home },
			writeUntilFull(() => wait(50)),
		),
	);
	t.regex(error?.message ?? '', /^You may keep 10(\.0)? MB here/);
	await staged.discard();
	t.deepEqual(await readdir(staging), []);
});

import type { RootRecord, StorageDriver, StorageProvider } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { ClosedStorage } from '../../src/trees/roots/ClosedStorage.js';
import type { OpenMount } from '../../src/trees/roots/openMounts.js';
import { RootDrivers } from '../../src/trees/roots/RootDrivers.js';
import { RootOpener } from '../../src/trees/roots/RootOpener.js';

/** Roots whose disks answer when they are told to. */
function slowDisks() {
	const logged: unknown[] = [];
	const calls: { answer(): void; isClosed: boolean; failure?: Error }[] = [];
	const slow: StorageDriver = {
		open: (rootId = '') =>
			new Promise<StorageProvider>((resolve) => {
				const close = async () => {
					call.isClosed = true;
					if (call.failure) throw call.failure;
				};
				const call: (typeof calls)[number] = {
					isClosed: false,
					answer: () => resolve({ rootId, close } as StorageProvider),
				};
				calls.push(call);
			}),
	};
	const offered = { find: () => slow, all: () => new Map([['slow', slow]]) };
	const config = { storage: 'local', dataDir: '/nowhere', databaseUrl: 'sqlite:/nowhere/a.db' };
	const log = { warn: (details: { err?: Error }) => logged.push(details.err?.message) };
	const drivers = new RootDrivers({ drivers: offered, config, log, openingMs: 20 } as never);
	const opener = new RootOpener({ drivers, config, log } as never);
	const record: RootRecord = {
		...{ name: 'big', rootId: 'an id', driver: 'slow', location: '/mnt/big' },
		...{ isDefault: false, createdAt: 0 },
	};
	const mount = (last?: OpenMount) => opener.mount(record, last, false, [record]);
	return { calls, drivers, record, mount, logged };
}

test('a disk that does not answer holds up nobody for long, is asked once, and is used once it has answered', async (t) => {
	const { calls, mount } = slowDisks();
	let last = await mount();
	for (let n = 0; n < 3; n++) {
		const { storage } = last;
		if (!(storage instanceof ClosedStorage)) return t.fail('it is open');
		t.is(storage.reason.message, 'There was no answer within 0.02 s.');
		t.true(isFailure(await t.throwsAsync(storage.check()), 'unavailable'));
		last = await mount(last);
	}
	t.is(calls.length, 1);
	calls[0]?.answer();
	last = await mount(last);
	t.false(last.storage instanceof ClosedStorage);
	t.is((await mount(last)).storage, last.storage);
	t.deepEqual([calls.length, calls[0]?.isClosed], [1, false]);
});

test('a disk that answers once its root is gone, or elsewhere, is closed', async (t) => {
	const { calls, drivers, record, mount } = slowDisks();
	await mount();
	drivers.closeOthers([record]);
	await mount();
	t.is(calls.length, 1);
	drivers.closeOthers([{ ...record, location: '/mnt/elsewhere' }]);
	calls[0]?.answer();
	await new Promise(setImmediate);
	t.true(calls[0]?.isClosed);
});

test('a disk that answers too late and can’t be closed is reported', async (t) => {
	const { calls, drivers, mount, logged } = slowDisks();
	await mount();
	Object.assign(calls[0] ?? {}, { failure: new Error('it hangs') });
	drivers.closeOthers([]);
	calls[0]?.answer();
	await new Promise(setImmediate);
	t.deepEqual(logged.slice(1), ['it hangs']);
});

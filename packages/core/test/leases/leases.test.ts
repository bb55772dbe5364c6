import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '@stowage/database';
import type { UserRecord } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { aloneWithUsers } from '../../src/accounts/aloneWithUsers.js';
import { createLeases, type Lease, type Leases } from '../../src/leases/createLeases.js';
import { until } from '../until.js';

/** Two processes over one database, with a clock that only the test moves. */
async function twoProcesses(t: ExecutionContext) {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-leases-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const clock = { now: Date.UTC(2030, 0, 1), isOneGone: false };
	const database = await openDatabase(`sqlite:${folder}/stowage.db`, { now: () => clock.now });
	t.teardown(database.close);
	const process = (name: string): Leases =>
		createLeases({
			store: database.leases,
			identity: { name, hasEnded: async (other) => clock.isOneGone && other === 'one', canTell: () => true },
			monotonic: () => clock.now,
		});
	return { clock, store: database.leases, one: process('one'), two: process('two') };
}

async function take(leases: Leases, options: Parameters<Leases['acquire']>[1] = {}): Promise<Lease> {
	const lease = await leases.acquire('name', { leaseMs: 100, ...options });
	if (lease === undefined) throw new Error('The lease is held.');
	return lease;
}

test('one holder at a time has a lease, and the others wait for it', async (t) => {
	const { one, two } = await twoProcesses(t);
	let running = 0;
	let done = 0;
	const work = async (leases: Leases) => {
		const lease = await leases.acquire('name', { waitMs: Number.POSITIVE_INFINITY });
		t.is(++running, 1);
		await new Promise((resolve) => setTimeout(resolve, 5));
		running--;
		done++;
		await lease?.release();
	};
	await Promise.all(Array.from({ length: 8 }, (_, n) => work(n % 2 ? one : two)));
	t.is(done, 8);
});

test('a caller that does not wait is refused while the lease is held, and gets it once it is released', async (t) => {
	const { one, two } = await twoProcesses(t);
	const lease = await take(one);
	t.is(await two.acquire('name'), undefined);
	t.is(await one.acquire('name'), undefined);
	await lease.release();
	t.false(lease.isHeld());
	await lease.release();
	t.true((await take(two)).isHeld());
});

test('a lease is renewed until it is released', async (t) => {
	const { clock, one, two } = await twoProcesses(t);
	const lease = await take(one);
	for (let n = 0; n < 4; n++) {
		clock.now += 60;
		// Once renewed, it is still held 50 ms later.
		await until('the lease is renewed', async () => {
			clock.now += 50;
			const isRenewed = lease.isHeld();
			clock.now -= 50;
			return isRenewed;
		});
	}
	t.false(lease.signal.aborted);
	t.is(await two.acquire('name'), undefined);
	await lease.release();
});

test('a holder is asked to release its lease when another process waits, which then gets it', async (t) => {
	const { one, two } = await twoProcesses(t);
	let asked = 0;
	const lease = await take(one, {
		onRequested() {
			asked++;
			void lease.release();
		},
	});
	const next = await take(two, { waitMs: Number.POSITIVE_INFINITY });
	t.true(asked > 0);
	t.false(lease.signal.aborted, 'the lease was released, not lost');
	t.true(next.key.epoch > lease.key.epoch);
});

test('an expired lease is not held any more, and its late release does not affect the next holder', async (t) => {
	const { clock, store, one, two } = await twoProcesses(t);
	const lease = await take(one);
	clock.now += 100;
	t.false(lease.isHeld());
	// The first process would renew it, unless another one is faster.
	await store.release(lease.key);
	const next = await take(two);
	await until('the signal is aborted', () => lease.signal.aborted);
	await lease.release();
	t.is((await store.find('name'))?.epoch, next.key.epoch);
});

test('the signal of a lease is aborted when another process has taken it', async (t) => {
	const { clock, one, two } = await twoProcesses(t);
	const lease = await take(one);
	clock.isOneGone = true;
	t.true((await take(two)).isHeld(), 'the lease of a process that has ended is taken at once');
	await until('the signal is aborted', () => lease.signal.aborted);
	t.false(lease.isHeld());
});

test('what was done under a lease is done, also where the full database can’t release it, which expires by itself', async (t) => {
	const { clock, store, one, two } = await twoProcesses(t);
	const { release } = store;
	store.release = () => Promise.reject(new Failure('storageFull', 'The disk of the database is full.'));
	for (const [leases, name] of [
		[one, 'name'],
		[two, 'other'],
	] as const) {
		const lease = await leases.acquire(name, { leaseMs: 100 });
		await lease?.release();
		t.false(lease?.isHeld());
	}
	store.release = release;
	t.is(await two.acquire('name'), undefined);
	clock.now += 100;
	t.true((await take(two)).isHeld());
});

test('a lease that fails to be released by a fault keeps no other one of the same accounts', async (t) => {
	const { one } = await twoProcesses(t);
	const released: string[] = [];
	const acquire: Leases['acquire'] = async (name, options) => {
		const lease = await one.acquire(name, options);
		const release = async () => {
			released.push(name);
			await lease?.release();
			if (name === 'account a') throw new Error('a fault');
		};
		return lease && { ...lease, release };
	};
	const get = async (id: string) => ({ id, username: id }) as UserRecord;
	const alone = aloneWithUsers({ users: { get }, leases: { acquire } });
	await t.throwsAsync(async () => alone([await get('a'), await get('b')], async () => {}), { message: 'a fault' });
	t.deepEqual(released, ['account a', 'account b']);
});

import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '@stowage/database';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { createLeases, type Lease, type Leases } from '../../src/leases/createLeases.js';
import { until } from '../until.js';

/** Two processes over one database whose clocks stand still until they are moved. */
async function site(t: ExecutionContext) {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-leases-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const clock = { now: Date.UTC(2030, 0, 1), isOneGone: false };
	const database = await openDatabase(`sqlite:${folder}/stowage.db`, { now: () => clock.now });
	t.teardown(database.close);
	const process = (name: string): Leases =>
		createLeases({
			store: database.leases,
			identity: { name, isGone: async (other) => clock.isOneGone && other === 'one' },
			monotonic: () => clock.now,
		});
	return { clock, store: database.leases, one: process('one'), two: process('two') };
}

async function held(leases: Leases, options: Parameters<Leases['take']>[1] = {}): Promise<Lease> {
	const lease = await leases.take('name', { leaseMs: 100, ...options });
	if (lease === undefined) throw new Error('it is held');
	return lease;
}

test('of all who want a lease one at a time has it, and the others wait for it', async (t) => {
	const { one, two } = await site(t);
	let running = 0;
	let done = 0;
	const work = async () => {
		t.is(++running, 1);
		await new Promise((resolve) => setTimeout(resolve, 5));
		running--;
		done++;
	};
	const wait = { waitMs: Number.POSITIVE_INFINITY };
	await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 ? one : two).hold('name', wait, work)));
	t.is(done, 8);
});

test('whoever does not wait is told that it is held, and gets it once it was given back', async (t) => {
	const { one, two } = await site(t);
	const lease = await held(one);
	t.is(await two.take('name'), undefined);
	t.is(await one.take('name'), undefined);
	t.true(isFailure(await t.throwsAsync(() => two.hold('name', {}, async () => {})), 'locked'));
	await lease.release();
	t.false(lease.isHeld());
	await lease.release();
	t.true((await held(two)).isHeld());
});

test('a lease is renewed until it is given back', async (t) => {
	const { clock, one, two } = await site(t);
	const lease = await held(one);
	for (let n = 0; n < 4; n++) {
		clock.now += 60;
		// Renewed from now on it ends later than it would have.
		await until('it was renewed', async () => {
			clock.now += 50;
			const isRenewed = lease.isHeld();
			clock.now -= 50;
			return isRenewed;
		});
	}
	t.false(lease.signal.aborted);
	t.is(await two.take('name'), undefined);
	await lease.release();
});

test('a holder hears that somebody wants it, who gets it when it is given back', async (t) => {
	const { one, two } = await site(t);
	let asked = 0;
	const lease = await held(one, {
		onAsked() {
			asked++;
			void lease.release();
		},
	});
	const next = await held(two, { waitMs: Number.POSITIVE_INFINITY });
	t.true(asked > 0);
	t.false(lease.signal.aborted, 'it was not lost');
	t.true(next.key.epoch > lease.key.epoch);
});

test('a process that was stopped for longer than its lease has lost it before it does anything more', async (t) => {
	const { clock, store, one, two } = await site(t);
	const lease = await held(one);
	clock.now += 100;
	t.false(lease.isHeld());
	// It renews again, if the other one is not faster.
	await store.release(lease.key);
	const next = await held(two);
	await until('it is told', () => lease.signal.aborted);
	await lease.release();
	t.is((await store.find('name'))?.epoch, next.key.epoch);
});

test('a lease that another process has taken is told to be lost', async (t) => {
	const { clock, one, two } = await site(t);
	const lease = await held(one);
	clock.isOneGone = true;
	t.true((await held(two)).isHeld(), 'nobody waits for a process that has ended');
	await until('it is told', () => lease.signal.aborted);
	t.false(lease.isHeld());
});

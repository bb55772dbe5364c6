import type { AcquiredLease, LeaseKey, LeaseStore } from '@stowage/plugin-api';
import type { ExecutionContext } from 'ava';
import { day, hostileTexts, type Rule, second } from './rules.js';

const leaseMs = 10 * second;
const hour = 60 * 60 * second;

async function acquireLease(
	t: ExecutionContext,
	leases: LeaseStore,
	name: string,
	holder: string,
): Promise<AcquiredLease> {
	const lease = await leases.acquire(name, holder, leaseMs);
	t.like(lease, { name, holder });
	if (lease === undefined) throw new Error('The lease is held by another holder.');
	return lease;
}

/** Exclusive rights of one process at a time. */
export function leaseRules(assertThat: Rule): void {
	assertThat(
		'only one of many concurrent attempts to take a lease succeeds, whether it is new, released or expired',
		async (t, { leases }, clock) => {
			let last: LeaseKey | undefined;
			for (const before of ['new', 'released', 'expired'] as const) {
				if (before === 'released' && last !== undefined) await leases.release(last);
				if (before === 'expired') clock.now += leaseMs + second;
				const takes = await Promise.all(
					Array.from({ length: 8 }, (_, n) => leases.acquire('name', n < 4 ? `holder ${n}` : 'the same', leaseMs)),
				);
				const [lease, ...others] = takes.filter((take) => take !== undefined);
				t.deepEqual(others, [], before);
				if (lease === undefined) throw new Error('No attempt succeeded.');
				t.like(await leases.find('name'), { holder: lease.holder, epoch: lease.epoch, isRequested: false });
				t.is(lease.hasLapsed, before === 'expired');
				t.true(lease.epoch > (last?.epoch ?? 0));
				last = lease;
			}
		},
	);

	assertThat('a lease is held under its own name only', async (t, { leases }) => {
		await acquireLease(t, leases, 'alice', 'one');
		for (const name of hostileTexts.filter((text) => text !== 'alice')) {
			t.is(await leases.find(name), undefined, name);
			t.false(await leases.requestRelease(name));
		}
		for (const name of hostileTexts.filter((text) => text !== 'alice')) await acquireLease(t, leases, name, 'two');
		t.is((await leases.find('alice'))?.holder, 'one');
		await t.throwsAsync(async () => leases.acquire('x'.repeat(5), 'one', hour + 1));
	});

	assertThat('a renewed lease is kept, and an expired one may be taken', async (t, { leases }, clock) => {
		const lease = await acquireLease(t, leases, 'name', 'one');
		clock.now += 8 * second;
		t.is(await leases.renew(lease, leaseMs), 'kept');
		clock.now += 8 * second;
		t.is(await leases.acquire('name', 'two', leaseMs), undefined);
		t.is((await leases.find('name'))?.epoch, lease.epoch);
		clock.now += 3 * second;
		t.is(await leases.renew(lease, leaseMs), 'kept', 'an expired lease that was not taken is renewed');
		clock.now += leaseMs + second;
		t.is(await leases.find('name'), undefined);
		t.false(await leases.requestRelease('name'));
		const next = await acquireLease(t, leases, 'name', 'two');
		t.true(next.epoch > lease.epoch);
		t.is(await leases.renew(lease, leaseMs), 'lost');
		await leases.release(lease);
		t.is((await leases.find('name'))?.epoch, next.epoch);
		t.is(await leases.renew(next, leaseMs), 'kept');
	});

	assertThat('a released lease is free at once and cannot be renewed', async (t, { leases }) => {
		const lease = await acquireLease(t, leases, 'name', 'one');
		await leases.release(lease);
		t.is(await leases.find('name'), undefined);
		t.is(await leases.renew(lease, leaseMs), 'lost');
		const next = await acquireLease(t, leases, 'name', 'one');
		t.true(next.epoch > lease.epoch);
		await leases.release(lease);
		t.is((await leases.find('name'))?.epoch, next.epoch);
	});

	assertThat('a revoked lease is lost to its holder and free for others', async (t, { leases }) => {
		await leases.revoke('name');
		const lease = await acquireLease(t, leases, 'name', 'one');
		await leases.revoke('another');
		t.is(await leases.renew(lease, leaseMs), 'kept');
		await leases.revoke('name');
		t.is(await leases.renew(lease, leaseMs), 'lost');
		t.false((await acquireLease(t, leases, 'name', 'two')).hasLapsed);
	});

	assertThat(
		'a renewal reports that the lease was requested, but not to a later holder',
		async (t, { leases }, clock) => {
			t.false(await leases.requestRelease('name'));
			const lease = await acquireLease(t, leases, 'name', 'one');
			t.is(await leases.renew(lease, leaseMs), 'kept');
			t.true(await leases.requestRelease('name'));
			t.is(await leases.renew(lease, leaseMs), 'requested');
			t.is(await leases.renew(lease, leaseMs), 'requested', 'the request is kept');
			t.true((await leases.find('name'))?.isRequested);
			clock.now += leaseMs + second;
			const next = await acquireLease(t, leases, 'name', 'two');
			t.is(await leases.renew(next, leaseMs), 'kept');
		},
	);

	assertThat(
		'the lease of a process that has ended is taken at once if its holder and epoch are given',
		async (t, { leases }) => {
			const lease = await acquireLease(t, leases, 'name', 'one');
			for (const other of [
				{ ...lease, epoch: lease.epoch - 1 },
				{ ...lease, holder: 'three' },
			])
				t.is(await leases.acquire('name', 'two', leaseMs, other), undefined);
			const takes = await Promise.all(['two', 'three'].map((holder) => leases.acquire('name', holder, leaseMs, lease)));
			t.is(takes.filter((take) => take?.hasLapsed).length, 1);
			t.is(await leases.renew(lease, leaseMs), 'lost');
		},
	);

	assertThat(
		'a lease that was taken while the clock was years ahead is free once the clock is corrected',
		async (t, { leases }, clock) => {
			clock.now += 400 * day;
			const wrong = await acquireLease(t, leases, 'name', 'one');
			clock.now -= 400 * day;
			t.is(await leases.find('name'), undefined);
			t.true((await acquireLease(t, leases, 'name', 'two')).epoch > wrong.epoch);
		},
	);

	assertThat(
		'sweeping removes ended leases and keeps held ones, and epochs keep growing',
		async (t, { leases }, clock) => {
			const ended = await acquireLease(t, leases, 'ended', 'one');
			clock.now += hour;
			const held = await acquireLease(t, leases, 'held', 'one');
			t.is(await leases.sweep(), 1);
			t.is(await leases.sweep(), 0);
			t.is((await leases.find('held'))?.epoch, held.epoch);
			t.true((await acquireLease(t, leases, 'ended', 'one')).epoch > ended.epoch);
			t.is(await leases.renew(ended, leaseMs), 'lost');
		},
	);
}

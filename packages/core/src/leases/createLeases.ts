import { setTimeout as wait } from 'node:timers/promises';
import type { AcquiredLease, LeaseStore } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import type { ProcessIdentity } from './processIdentity.js';

interface Dependencies {
	store: LeaseStore;
	identity: ProcessIdentity;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

export interface LeaseOptions {
	/** Milliseconds after which a lease that was not renewed is lost. @default 10,000 */
	leaseMs?: number;
	/** How long to wait for another holder, of which the release is requested. @default 0 */
	waitMs?: number;
	/** Called repeatedly once another holder has requested the lease. */
	onRequested?: () => void;
}

/** An exclusive right that one holder has at a time, across all processes. */
export interface Lease {
	/** The fencing token for writes under this lease. */
	readonly key: AcquiredLease;
	/**
	 * Fires when the lease is lost: another holder has it, or it could not be renewed in time. In a process that was suspended it fires
	 * some time after the process continues.
	 */
	readonly signal: AbortSignal;
	/** Whether the lease is certainly held. To be checked right before an action that can't be undone. */
	isHeld(): boolean;
	/** Whether another holder has requested it. */
	isRequested(): boolean;
	/**
	 * Releases it. May be called again. Throws no `Failure`: a lease that the database can't remove now expires by itself, and what was
	 * done under it is done.
	 */
	release(): Promise<void>;
	/** Renews it no more: it is held until it expires. */
	lapse(): void;
}

/** Leases that this process holds. */
export interface Leases {
	/**
	 * Acquires a lease and renews it until it is released. Undefined if another holder, also in this process, keeps it for longer than the
	 * waiting time.
	 */
	acquire(name: string, options?: LeaseOptions): Promise<Lease | undefined>;
	/** Requests that the holder releases the lease. Resolves to whether there is one. */
	requestRelease(name: string): Promise<boolean>;
	/** Ends the lease, of any holder. */
	revoke(name: string): Promise<void>;
}

const defaultLeaseMs = 10_000;

/** Renewals within the span of a lease. */
const renewals = 3;

/** Checks for requests of others per renewal. */
const checksPerRenewal = 3;

/** How often a waiting process checks whether the lease is free. */
const pollMs = 100;

export function createLeases({ store, identity, monotonic }: Dependencies): Leases {
	const holder = identity.name;

	/** Acquires the lease if it is free, or if the process that holds it has certainly ended: then its expiry need not be waited for. */
	const tryAcquire = async (name: string, leaseMs: number): Promise<AcquiredLease | undefined> => {
		const free = await store.acquire(name, holder, leaseMs);
		if (free !== undefined) return free;
		const held = await store.find(name);
		if (held === undefined) return store.acquire(name, holder, leaseMs);
		return (await identity.hasEnded(held.holder)) ? store.acquire(name, holder, leaseMs, held) : undefined;
	};

	return {
		async acquire(name, { leaseMs = defaultLeaseMs, waitMs = 0, onRequested } = {}) {
			const deadline = monotonic() + waitMs;
			for (let hasRequested = false; ; ) {
				const requestedAt = monotonic();
				const key = await tryAcquire(name, leaseMs);
				if (key !== undefined) return heldLease(store, key, { leaseMs, requestedAt, monotonic, onRequested });
				if (monotonic() >= deadline) return undefined;
				if (!hasRequested) hasRequested = await store.requestRelease(name);
				await wait(pollMs);
			}
		},

		requestRelease: (name) => store.requestRelease(name),

		revoke: (name) => store.revoke(name),
	};
}

interface Holding {
	leaseMs: number;
	/** The time before the request: counted from there it never ends later than in the database. */
	requestedAt: number;
	monotonic(): number;
	onRequested: (() => void) | undefined;
}

function heldLease(
	store: LeaseStore,
	key: AcquiredLease,
	{ leaseMs, requestedAt, monotonic, onRequested }: Holding,
): Lease {
	const ending = new AbortController();
	let endsAt = requestedAt + leaseMs;
	let isReleased = false;
	let isRequested = false;
	let renewing: Promise<void> | undefined;
	const isInTime = () => monotonic() < endsAt;
	const lose = (reason: unknown) => {
		clearInterval(timer);
		ending.abort(reason);
	};
	const renew = async () => {
		const at = monotonic();
		const outcome = await store.renew(key, leaseMs);
		if (outcome !== 'lost') endsAt = at + leaseMs;
		return outcome;
	};
	/** Checks the lease by a read, which costs less than a renewal. */
	const check = async () => {
		const held = await store.find(key.name);
		if (held?.holder !== key.holder || held.epoch !== key.epoch) return renew();
		return held.isRequested ? 'requested' : 'kept';
	};
	let checks = 0;
	const keep = async () => {
		try {
			const outcome = await (++checks % checksPerRenewal === 0 || !isInTime() ? renew() : check());
			if (outcome === 'lost') return lose(lost());
			isRequested = outcome === 'requested';
			if (isRequested && !isReleased) onRequested?.();
		} catch (error) {
			// A short outage of the database ends no work.
			if (!isFailure(error) || !isInTime()) lose(error);
		}
	};
	const timer = setInterval(
		() => {
			if (renewing !== undefined && !isInTime()) return lose(lost());
			// Also late, after this process was suspended: the database knows whether another process has taken it meanwhile.
			renewing ??= keep().finally(() => {
				renewing = undefined;
			});
		},
		leaseMs / renewals / checksPerRenewal,
	);
	timer.unref();
	return {
		key,
		signal: ending.signal,
		isHeld: () => !isReleased && !ending.signal.aborted && isInTime(),
		isRequested: () => isRequested,
		lapse() {
			isReleased = true;
			clearInterval(timer);
		},
		async release() {
			if (isReleased) return;
			isReleased = true;
			clearInterval(timer);
			await renewing;
			if (ending.signal.aborted) return;
			try {
				await store.release(key);
			} catch (error) {
				// Such as of a database that is away, or whose disk is full.
				if (!isFailure(error)) throw error;
			}
		},
	};
}

function lost(): Failure {
	return new Failure('locked', 'Somebody else has taken this over.', { retryAfter: 1 });
}

import type { LeaseKey, LeaseStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { databaseTime } from '../../connection/dialect.js';
import { isUniqueViolation } from '../../connection/errors.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { deleteInParts } from '../inParts.js';
import { clockSkewMs, isOver, untilIn } from './leaseTimes.js';

const maxMs = 60 * 60_000;

interface LeaseRow {
	name: string;
	/** Empty once it was released. */
	holder: string;
	epoch: number;
	/** By the clock of the database. */
	ends_at: number;
	/** Whether another holder waits for it. */
	is_asked: boolean | number;
}

export function leaseStore(knex: Knex, now: () => number): LeaseStore {
	const leases = () => knex<LeaseRow>('leases');
	const own = ({ name, holder, epoch }: LeaseKey) => leases().where({ name, holder, epoch });
	const time = () => databaseTime(knex, now);
	const until = (ms: number) => {
		if (ms > maxMs) throw new RangeError(`A lease of ${ms} ms is longer than an hour.`);
		return untilIn(knex, time(), ms);
	};

	return {
		async acquire(name, holder, ms, gone) {
			try {
				return await transact(knex, async (transaction) => {
					const named = () => transaction<LeaseRow>('leases').where({ name });
					const before = await named().forUpdate().first('holder');
					const changed = await named()
						.where((free) => {
							free.whereRaw(isOver(knex, 'ends_at', time(), ms));
							if (gone !== undefined) free.orWhere({ holder: gone.holder, epoch: gone.epoch });
						})
						.update({ ...plainRow({ holder, is_asked: false }), epoch: knex.raw('epoch + 1'), ends_at: until(ms) });
					if (changed === 0) {
						// The row is the lock: another holder, or a faster one, has it already.
						await transaction('leases').insert({
							...plainRow({ name, holder, is_asked: false }),
							// A lease whose row was removed continues above its former epoch: it is never taken as often as once a millisecond.
							epoch: time(),
							ends_at: until(ms),
						});
					}
					const row = await named().first('epoch');
					if (row === undefined) throw new Error('A lease vanished while it was locked.');
					return { name, holder, epoch: row.epoch, hasLapsed: before !== undefined && before.holder !== '' };
				});
			} catch (error) {
				if (isUniqueViolation(error)) return undefined;
				throw error;
			}
		},

		async find(name) {
			const row = await leases().where({ name }).whereNot(isHeldNoMore()).first('holder', 'epoch', 'is_asked');
			return row && { name, holder: row.holder, epoch: row.epoch, isRequested: Boolean(row.is_asked) };
		},

		async renew(lease, ms) {
			const kept = await own(lease).update({ ends_at: until(ms) });
			if (kept === 0) return 'lost';
			const row = await own(lease).first('is_asked');
			if (row === undefined) return 'lost';
			return row.is_asked ? 'requested' : 'kept';
		},

		async release(lease) {
			await own(lease).update(givenBack());
		},

		async revoke(name) {
			if ((await leases().where({ name }).whereNot(isHeldNoMore()).first('name')) === undefined) return;
			await leases().where({ name }).whereNot(isHeldNoMore()).update(givenBack());
		},

		async requestRelease(name) {
			if ((await leases().where({ name }).whereNot(isHeldNoMore()).first('name')) === undefined) return false;
			const asked = await leases().where({ name }).whereNot(isHeldNoMore()).update({ is_asked: true });
			return asked > 0;
		},

		async sweep() {
			return deleteInParts(knex, 'leases', (rows) =>
				rows
					.where('ends_at', '<=', untilIn(knex, time(), -clockSkewMs))
					.orWhere('ends_at', '>', untilIn(knex, time(), maxMs + clockSkewMs)),
			);
		},
	};

	/**
	 * Expired also for a clock that goes back a little, and yet kept for a while, so that its epoch continues; increased, so that a
	 * concurrent renewal finds another one.
	 */
	function givenBack() {
		return { holder: '', ends_at: untilIn(knex, time(), -clockSkewMs / 2), epoch: knex.raw('epoch + 1') };
	}

	function isHeldNoMore(): Knex.Raw {
		return isOver(knex, 'ends_at', time(), maxMs);
	}
}

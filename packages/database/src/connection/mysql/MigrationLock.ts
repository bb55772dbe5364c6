import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Failure } from '@stowage/rules';
import type { Knex } from 'knex';
import { exactCollation } from '../../migrations/createTable.js';
import { isTimeout, isUnavailable } from '../errors.js';

const migrationLockTable = 'migration_lock';

const lockName = 'migrations';

/** How often the holder renews its row. */
const beatMs = 1000;

/** How long another process must have seen the row unchanged before it takes the lock from a holder that has died. */
const staleMs = 10_000;

/** The longest time between two looks at the row that counts: after a longer one the observer itself may have been stopped. */
const longestLookMs = 2000;

/** How old the last renewal may be when a statement begins; well below `staleMs`. */
const freshMs = 3000;

/** How long a starting process waits for another one that is migrating. */
const waitMs = 600_000;

interface LockRow {
	name: string;
	/** Empty while nobody has it. */
	holder: string;
	/** Grows while the holder lives. */
	beat: number;
}

/**
 * Excludes migrations by other processes over one database, also at other nodes of a cluster, where a lock of the
 * server (`get_lock`) is unknown. It is a row that its holder renews; no clocks are compared. `knex` has one
 * connection, used for nothing else.
 */
export class MigrationLock {
	readonly #knex: Knex;
	readonly #holder = randomUUID();
	#renewedAt = 0;
	#renewing: Promise<void> | undefined;
	#timer: NodeJS.Timeout | undefined;
	#isHeld = false;

	constructor(knex: Knex) {
		this.#knex = knex;
	}

	/** Throws `unavailable` where others have been migrating for ten minutes. */
	async acquire(): Promise<void> {
		const deadline = performance.now() + waitMs;
		// One statement, which is harmless at two nodes at once. It may wait for a migration at another one.
		await this.#patiently(deadline, async () => {
			const collation = await exactCollation(this.#knex);
			await this.#knex.raw(
				`create table if not exists ?? (name varchar(20) not null primary key, holder varchar(36) not null, beat bigint not null) engine = InnoDB character set utf8mb4 collate ${collation}`,
				[migrationLockTable],
			);
		});
		await this.#patiently(deadline, () =>
			this.#knex.raw('insert ignore into ?? (name, holder, beat) values (?, ?, ?)', [
				migrationLockTable,
				lockName,
				'',
				0,
			]),
		);
		let seen: LockRow | undefined;
		let seenAt = 0;
		let unchangedMs = 0;
		for (;;) {
			const row = await this.#patiently(deadline, async () => {
				const found = await this.#rows().first();
				if (found === undefined) throw new Failure('unavailable', 'The row of the migration lock vanished.');
				return found;
			});
			const now = performance.now();
			const isUnchanged = seen !== undefined && seen.holder === row.holder && seen.beat === row.beat;
			unchangedMs = isUnchanged ? unchangedMs + Math.min(now - seenAt, longestLookMs) : 0;
			seen = row;
			seenAt = now;
			const isFree = row.holder === '' || row.holder === this.#holder || unchangedMs >= staleMs;
			if (isFree && (await this.#take(row, deadline))) return;
			if (now > deadline) throw migratingElsewhere();
			await wait(beatMs / 4);
		}
	}

	/** Throws `unavailable` if another process may have the lock. */
	async assertHeld(): Promise<void> {
		if (this.#isHeld && performance.now() - this.#renewedAt < freshMs) return;
		// A statement of the migration itself may have kept a cluster from all others: the renewal that waited for it fails late.
		await this.#renewing?.catch(() => undefined);
		await this.#renew();
	}

	/** Gives the lock back; where the database is away, others take it in a while. */
	async release(): Promise<void> {
		clearInterval(this.#timer);
		await this.#renewing?.catch(() => undefined);
		if (!this.#isHeld) return;
		this.#isHeld = false;
		try {
			await this.#rows().where({ holder: this.#holder }).update({ holder: '' });
		} catch (error) {
			if (!isUnavailable(error)) throw error;
		}
	}

	#rows() {
		return this.#knex<LockRow>(migrationLockTable).where({ name: lockName });
	}

	async #take({ holder, beat }: LockRow, deadline: number): Promise<boolean> {
		const taken = await this.#patiently(deadline, () =>
			this.#rows()
				.where({ holder, beat })
				.update({ holder: this.#holder, beat: beat + 1 }),
		);
		if (taken === 0) return false;
		this.#isHeld = true;
		this.#renewedAt = performance.now();
		this.#timer = setInterval(() => {
			// What fails here is tried again before the next statement.
			this.#renewing ??= this.#renew()
				.catch(() => undefined)
				.finally(() => {
					this.#renewing = undefined;
				});
		}, beatMs);
		return true;
	}

	async #renew(): Promise<void> {
		const startedAt = performance.now();
		const renewed = this.#isHeld
			? await this.#rows()
					.where({ holder: this.#holder })
					.update({ beat: this.#knex.raw('beat + 1') })
			: 0;
		if (renewed === 0) {
			this.#isHeld = false;
			throw new Failure('unavailable', 'Another process has taken over the migration, since this one did not go on.');
		}
		this.#renewedAt = startedAt;
	}

	/** Repeats what had to wait too long for a migration of another process. */
	async #patiently<T>(deadline: number, attempt: () => PromiseLike<T>): Promise<T> {
		for (;;) {
			try {
				return await attempt();
			} catch (error) {
				if (!isTimeout(error)) throw error;
				if (performance.now() > deadline) throw migratingElsewhere();
			}
		}
	}
}

function migratingElsewhere(): Failure {
	return new Failure('unavailable', 'Another process has been migrating this database for ten minutes.');
}

import type { TrashRecord } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import { locateTrashed } from './locateTrashed.js';
import { noteMissing, tidyNotes } from './recording/TrashNotes.js';
import { lostMs, type TrashParts, trashBatch, warnOfTrash } from './trashParts.js';
import { settleHere } from './versions/finishVersion.js';

const dayMs = 24 * 60 * 60_000;

/** Items of which it is not known whether they are in the trash are looked for after this time. */
const movingMs = 60_000;

/** A suspended machine, whose monotonic clock stands still, is one whose clock was set as well. */
const maxJumpMs = 60 * 60_000;

/**
 * Completes what was interrupted, and puts many small files of notes together. `noted` are the ids of the roots of which each item has a
 * note, which is known once all of them were read.
 */
export async function completeTrash(parts: TrashParts, noted: Set<string>): Promise<void> {
	const { store, now, storage } = parts;
	for (const state of ['moving', 'leaving'] as const) {
		for (let skip = 0; ; ) {
			const records = await store.inState(state, { limit: trashBatch, until: now() - movingMs, skip });
			for (const record of records) if (!(await complete(parts, record, state))) skip++;
			if (records.length < trashBatch) break;
		}
	}
	for (const mount of storage().mounts()) {
		try {
			await tidyNotes(store, mount.storage);
			if (noted.has(mount.storage.rootId)) continue;
			await noteMissing(store, mount.storage);
			noted.add(mount.storage.rootId);
		} catch (error) {
			warnOfTrash(parts, error);
		}
	}
}

/** Resolves to false for one that is not there yet, or whose root is away. */
async function complete(parts: TrashParts, record: TrashRecord, state: 'moving' | 'leaving'): Promise<boolean> {
	const { store, now } = parts;
	try {
		const isHere = (await locateTrashed(parts, record)) !== undefined;
		if (isHere) await settleHere(parts, record, state);
		else if (record.deletedAt < now() - lostMs) await store.remove([record.id]);
		else return false;
		return true;
	} catch (error) {
		if (!isFailure(error, 'unavailable')) warnOfTrash(parts, error);
		return false;
	}
}

/** Whether the time of day can be trusted: a wrong clock must not remove what shall be kept for days or weeks. */
export class ClockJumps {
	readonly #parts: Pick<TrashParts, 'now' | 'monotonic' | 'log'>;
	/** When both clocks were last in step. */
	#inStep: { now: number; monotonic: number };
	#distrustedUntil = Number.NEGATIVE_INFINITY;

	constructor(parts: Pick<TrashParts, 'now' | 'monotonic' | 'log'>) {
		this.#parts = parts;
		this.#inStep = { now: parts.now(), monotonic: parts.monotonic() };
	}

	/** Whether the clock may be believed: not for a day after it was set. */
	isTrusted(): boolean {
		const { now, monotonic, log } = this.#parts;
		const before = this.#inStep;
		this.#inStep = { now: now(), monotonic: monotonic() };
		const jump = this.#inStep.now - before.now - (this.#inStep.monotonic - before.monotonic);
		if (Math.abs(jump) > maxJumpMs) {
			this.#distrustedUntil = this.#inStep.monotonic + dayMs;
			log.warn(
				{ jump },
				'the clock was set: nothing is removed for its age for a day, such as from the trash and the audit log',
			);
		}
		return this.#inStep.monotonic >= this.#distrustedUntil;
	}
}

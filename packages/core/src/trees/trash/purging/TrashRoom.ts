import { setTimeout as wait } from 'node:timers/promises';
import type { TrashSelection, TrashSize } from '@stowage/plugin-api';
import type { TrashSizes } from '../TrashSizes.js';

type Chosen = Pick<TrashSelection, 'ownerId' | 'rootId'>;

interface Room {
	/** What is known to be there, if anything is: more may have come since. */
	known: TrashSize | undefined;
	/** A sum that has not begun yet, for all who ask until then. */
	next: Promise<TrashSize> | undefined;
	/** When the next one may begin. */
	restsUntil: number;
}

/** Sums take at most this part of the time, however often they are asked for. */
const restFactor = 20;

/** Users and roots whose sums are kept. */
const maxRooms = 1_000;

/**
 * How much could give way. A sum reads a row for each item, of which there may be hundreds of thousands, while what
 * asks for it may be a few bytes of an announcement.
 */
export class TrashRoom {
	readonly #sizes: Pick<TrashSizes, 'totals'>;
	readonly #rooms = new Map<string, Room>();

	constructor(sizes: Pick<TrashSizes, 'totals'>) {
		this.#sizes = sizes;
	}

	/** Whether this much is in the trash. */
	async has(selection: Chosen, lack: TrashSize): Promise<boolean> {
		const room = this.#roomOf(selection);
		if (room.known !== undefined && isEnough(room.known, lack)) return true;
		room.next ??= this.#sum(room, selection);
		return isEnough(await room.next, lack);
	}

	/** Notes how much of the trash was removed to make room. */
	gave(selection: Chosen, { bytes, entries }: TrashSize): void {
		const { known } = this.#roomOf(selection);
		this.forget();
		if (known !== undefined)
			this.#roomOf(selection).known = { bytes: known.bytes - bytes, entries: known.entries - entries };
	}

	/** Something else has left the trash. */
	forget(): void {
		for (const room of this.#rooms.values()) room.known = undefined;
	}

	#roomOf(selection: Chosen): Room {
		const key = JSON.stringify([selection.ownerId, selection.rootId]);
		const room = this.#rooms.get(key) ?? { known: undefined, next: undefined, restsUntil: 0 };
		if (this.#rooms.size >= maxRooms) this.#rooms.clear();
		this.#rooms.set(key, room);
		return room;
	}

	async #sum(room: Room, selection: Chosen): Promise<TrashSize> {
		const rest = room.restsUntil - performance.now();
		// Whoever asks from here on gets another sum.
		await (rest > 0 ? wait(rest) : undefined);
		room.next = undefined;
		const began = performance.now();
		const known = await this.#sizes.totals(selection);
		const now = performance.now();
		room.restsUntil = now + restFactor * (now - began);
		room.known = known;
		return known;
	}
}

function isEnough(room: TrashSize, lack: TrashSize): boolean {
	return room.bytes >= lack.bytes && room.entries >= lack.entries;
}

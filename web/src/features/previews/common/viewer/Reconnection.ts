/** Pauses before a film or song is fetched again. */
const pausesMs = [1000, 3000, 9000];

export type Connection = 'connected' | 'reconnecting' | 'lost';

/** What an element of the page says of itself, and does. */
export type Player = Pick<HTMLMediaElement, 'error' | 'currentTime' | 'paused' | 'autoplay' | 'load' | 'play'>;

/** Of `MediaError`. */
const networkError = 2;

/**
 * Has the element of a film or song go on at its place after its connection was lost: it fetches again after some pauses,
 * or as soon as the computer is online. `onChange` is told when that begins and ends.
 */
export class Reconnection {
	readonly #onChange: (connection: Connection) => void;
	readonly #pausesMs: readonly number[];
	/** Where it stopped, until it is there again. */
	#place: { player: Player; time: number; isPlaying?: boolean } | undefined;
	#attempts = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(onChange: (connection: Connection) => void, pauses: readonly number[] = pausesMs) {
		this.#onChange = onChange;
		this.#pausesMs = pauses;
	}

	/** Takes an error of the element, unless it is one of the file. */
	takeError(player: Player): boolean {
		// One that can't even begin to fetch says of a file without a connection that it is none.
		if (player.error?.code !== networkError && !this.#place) return false;
		this.#place ??= { player, time: player.currentTime };
		const pause = this.#pausesMs[this.#attempts++];
		if (pause !== undefined) this.#timer = setTimeout(() => this.#reload(), pause);
		this.#onChange(pause === undefined ? 'lost' : 'reconnecting');
		return true;
	}

	/** Fetches again at once, and then as often as at first. */
	tryAgain(): void {
		if (!this.#place) return;
		this.#attempts = 0;
		this.#onChange('reconnecting');
		this.#reload();
	}

	#reload(): void {
		clearTimeout(this.#timer);
		if (!this.#place) return;
		const { player } = this.#place;
		// The user may have stopped it meanwhile; `load` stops it, too.
		this.#place.isPlaying ??= !player.paused;
		// One that was stopped would begin by itself.
		player.autoplay = false;
		player.load();
	}

	/** Moves the element to where it stopped, if it did. To be called when the duration is known. */
	resume(player: Player): boolean {
		if (!this.#place) return false;
		player.currentTime = this.#place.time;
		if (this.#place.isPlaying) player.play().catch(() => {});
		return true;
	}

	/** Ends the reconnection. To be called when the element has moved. */
	settle(): void {
		if (!this.#place) return;
		this.#place = undefined;
		this.#attempts = 0;
		this.#onChange('connected');
	}

	end(): void {
		clearTimeout(this.#timer);
	}
}

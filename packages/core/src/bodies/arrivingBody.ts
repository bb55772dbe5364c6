import type { IncomingMessage } from 'node:http';
import { Failure, isFailure } from '@stowage/rules';

/**
 * The minimum speed of a body. Only the time counts in which the server waits for the client, not the time in which a slow disk makes the
 * client wait.
 */
export interface BodyTimeouts {
	/** The longest wait for a next byte. */
	idleSeconds: number;
	/** The least bytes in each `floorSeconds` of waiting. */
	floorBytes: number;
	floorSeconds: number;
	/** The longest wait for the whole body. */
	maxSeconds: number;
	/** The message for a client that is too slow. */
	tooSlow: string;
	/** The message when the connection was cut. */
	cutOff: string;
}

/**
 * The body of a request as it arrives. Throws `timeout` below the minimum speed and `invalid` when the connection is cut. A reader that
 * stops early leaves the rest unread and the request whole, so that a refusal still finds its way back.
 */
export async function* arrivingBody(
	request: IncomingMessage,
	timeouts: BodyTimeouts,
	secondMs = 1000,
): AsyncGenerator<Buffer, void> {
	const wait = new Wait(timeouts);
	let wake = () => {};
	const onSign = () => wake();
	// Ticks of a timer, not the time of day: a process that stood still for a minute has not waited for anybody.
	const timer = setInterval(() => {
		if (!wait.isOver && wait.tick()) wake();
	}, secondMs).unref();
	for (const sign of ['readable', 'end', 'error', 'close']) request.on(sign, onSign);
	try {
		while (!request.readableEnded) {
			const chunk: Buffer | null = request.destroyed ? null : request.read();
			if (chunk !== null) {
				wait.end(chunk.length);
				yield chunk;
				wait.begin();
				continue;
			}
			if (isFailure(request.errored)) throw request.errored;
			if (request.destroyed) throw new Failure('invalid', timeouts.cutOff, { cause: request.errored ?? undefined });
			if (wait.isOver) throw new Failure('timeout', timeouts.tooSlow);
			await new Promise<void>((resolve) => {
				wake = resolve;
			});
		}
	} finally {
		clearInterval(timer);
		for (const sign of ['readable', 'end', 'error', 'close']) request.off(sign, onSign);
	}
}

/** The time that we have waited for a client, in seconds. */
class Wait {
	#isWaiting = true;
	#silent = 0;
	#inWindow = 0;
	#bytesInWindow = 0;
	#whole = 0;
	isOver = false;

	constructor(readonly pace: BodyTimeouts) {}

	begin(): void {
		this.#isWaiting = true;
	}

	end(bytes: number): void {
		this.#isWaiting = false;
		this.#silent = 0;
		this.#bytesInWindow += bytes;
	}

	/** Called after each second. Returns whether the limit is exceeded. */
	tick(): boolean {
		if (!this.#isWaiting) return false;
		const { idleSeconds, floorBytes, floorSeconds, maxSeconds } = this.pace;
		const isWindowOver = ++this.#inWindow >= floorSeconds;
		this.isOver =
			++this.#silent >= idleSeconds ||
			++this.#whole >= maxSeconds ||
			(isWindowOver && this.#bytesInWindow < floorBytes);
		if (isWindowOver) {
			this.#inWindow = 0;
			this.#bytesInWindow = 0;
		}
		return this.isOver;
	}
}

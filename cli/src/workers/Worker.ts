import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Family, SiblingMessage } from '@stowage/core';
import { hasDroppedRoot } from '../privileges/becomeOwner.js';
import type { FromWorker, ToWorker } from './messages.js';
import { relayOutput } from './relayOutput.js';

/** A worker that leaves so many pings in a row unanswered hangs. Counted by pings, so that a machine that slept has missed one at most. */
const maxMissed = 6;

/** Milliseconds. */
const metricsMs = 3000;
const reloadMs = 10_000;
const lastLinesMs = 1000;

/** Connections on their way to it: one that hangs gets no more. */
const maxOnTheWay = 32;

interface Events {
	/** Called once it serves, and accepts connections. */
	onReady(): void;
	/** Called with the level of its log, each time it has read the configuration. */
	onLogLevel(level: string): void;
	/** Called with what its start waits for. */
	onWaiting(reason: string): void;
	/** Called once it accepts no further connections. */
	onClosing(): void;
	/** Called with messages for the other workers, or for the one named `to`. */
	onTell(messages: readonly SiblingMessage[], to: string | undefined): void;
	/** Called when it may have room for a further connection. */
	onRoom(): void;
}

/** A process that serves, as the primary process knows it. */
export class Worker {
	readonly id: number;
	/** The name by which other workers know it, also in the database; empty until the worker has told it. */
	name = '';
	isReady = false;
	/** Whether its database answered when it was last asked. */
	isAlive = true;
	isStopping = false;
	/** What it had counted when it was last read. */
	families: readonly Family[] = [];
	/** The signal that has ended it. */
	signal: NodeJS.Signals | null = null;
	/** The code with which it ended; null after a signal. */
	readonly ended: Promise<number | null>;
	readonly #process: ChildProcess;
	readonly #metrics = new Map<number, (families: Family[]) => void>();
	readonly #onTheWay = new Map<number, Socket>();
	readonly #events: Events;
	#reloaded: (outcome: string) => void = () => {};
	#missed = 0;
	#lastId = 0;

	/** Starts the process, with what this one was started with and `env`. */
	constructor(id: number, env: NodeJS.ProcessEnv, events: Events) {
		this.id = id;
		this.#events = events;
		const [, program = '', ...words] = process.argv;
		// The user that root has become may take it over, and would have root's terminal by it: to read what root types, or write to it.
		const isApart = hasDroppedRoot();
		this.#process = fork(program, words, {
			env: { ...process.env, ...env },
			serialization: 'advanced',
			detached: isApart,
			...(isApart ? { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] as const } : {}),
		});
		if (isApart) relayOutput(this.#process);
		this.#process.on('message', (message: FromWorker) => this.#receive(message));
		this.ended = new Promise((resolve) => {
			this.#process.once('exit', async (code, signal) => {
				this.signal = signal;
				// Nobody else may have them: the process may have read a part of a request.
				for (const socket of this.#onTheWay.values()) socket.destroy();
				// What it has said last is relayed, unless something that it started holds its output.
				if (isApart) await Promise.race([once(this.#process, 'close'), delay(lastLinesMs)]);
				resolve(code);
			});
			// It could not be started; a message that can't be sent any more is followed by the exit.
			this.#process.on('error', () => {
				if (this.#process.pid === undefined) resolve(1);
			});
		});
	}

	get pid(): number | undefined {
		return this.#process.pid;
	}

	/** Hands a connection on, unless too many are on their way already. */
	accept(socket: Socket): boolean {
		if (!this.#process.connected || this.#onTheWay.size >= maxOnTheWay) return false;
		const id = ++this.#lastId;
		this.#onTheWay.set(id, socket);
		// Kept until it has arrived, or it could be neither answered nor closed if the process died meanwhile.
		this.#process.send({ type: 'connection', id } satisfies ToWorker, socket, { keepOpen: true }, (error) => {
			if (error !== null) this.#hasArrived(id);
		});
		return true;
	}

	/** Returns false when it hangs, after which it has been killed. */
	ping(): boolean {
		if (++this.#missed > maxMissed) {
			this.kill();
			return false;
		}
		this.#send({ type: 'ping' });
		return true;
	}

	/** Lets what is under way end, and then the process. One that does not serve yet ends at once. */
	stop(): void {
		this.isStopping = true;
		this.#process.kill('SIGTERM');
	}

	kill(): void {
		this.#process.kill('SIGKILL');
	}

	/** Resolves to the addition to the status line. */
	reload(): Promise<string> {
		return this.#within(reloadMs, '; not confirmed by all processes', (resolve) => {
			this.#reloaded = resolve;
			this.#send({ type: 'reload' });
		});
	}

	/** What it counts and measures; of one that does not answer in time, what it last answered. */
	readMetrics(): Promise<readonly Family[]> {
		const id = ++this.#lastId;
		return this.#within<readonly Family[]>(metricsMs, this.families, (resolve) => {
			this.#metrics.set(id, resolve);
			this.#send({ type: 'readMetrics', id });
		}).finally(() => this.#metrics.delete(id));
	}

	/** Whether it answers, as far as is known. */
	get answers(): boolean {
		return this.#missed <= 1;
	}

	/** What others tell it. One that hangs is told nothing, so that nothing piles up. */
	tell(messages: readonly SiblingMessage[]): void {
		if (this.answers) this.#send({ type: 'told', messages });
	}

	introduce(names: string[], isLeader: boolean): void {
		this.#send({ type: 'siblings', names, isLeader });
	}

	#receive(message: FromWorker): void {
		if (message.type === 'accepted') this.#hasArrived(message.id);
		else if (message.type === 'pong') {
			this.#missed = 0;
			this.isAlive = message.isAlive;
		} else if (message.type === 'reloaded') {
			this.#events.onLogLevel(message.logLevel);
			this.#reloaded(message.outcome);
		} else if (message.type === 'metrics') {
			this.families = message.families;
			if (message.id !== undefined) this.#metrics.get(message.id)?.(message.families);
		} else if (message.type === 'named') this.name = message.name;
		else if (message.type === 'waiting') this.#events.onWaiting(message.reason);
		else if (message.type === 'tell') this.#events.onTell(message.messages, message.to);
		else if (message.type === 'closing') {
			this.isStopping = true;
			this.#events.onClosing();
			this.#send({ type: 'closed' });
		} else {
			this.#events.onLogLevel(message.logLevel);
			this.isReady = true;
			this.#events.onReady();
		}
	}

	/** Closes this process's descriptor of the connection. */
	#hasArrived(id: number): void {
		this.#onTheWay.get(id)?.destroy();
		if (this.#onTheWay.delete(id)) this.#events.onRoom();
	}

	async #within<Value>(ms: number, otherwise: Value, ask: (resolve: (value: Value) => void) => void): Promise<Value> {
		let timer: NodeJS.Timeout | undefined;
		const late = new Promise<Value>((resolve) => {
			timer = setTimeout(resolve, ms, otherwise);
		});
		try {
			return await Promise.race([new Promise<Value>(ask), late, this.ended.then(() => otherwise)]);
		} finally {
			clearTimeout(timer);
		}
	}

	#send(message: ToWorker): void {
		if (this.#process.connected) this.#process.send(message);
	}
}

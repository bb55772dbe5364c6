import { setTimeout as delay } from 'node:timers/promises';
import { type Family, type Log, sumFamilies } from '@stowage/core';
import type { Acceptor } from './Listener.js';
import { Replacing } from './replacing.js';
import { Worker } from './Worker.js';

const pingMs = 5000;

/** How long a new process may take until it serves, when processes are replaced one after another. */
const startMs = 60_000;

/** What a process has to end, as it gives itself: one that hangs is killed then. */
const stopMs = 25_000;

interface Options {
	count: number;
	/** What the processes find in their environment besides that of this one. */
	env: NodeJS.ProcessEnv;
	listener: { add(acceptor: Acceptor): void; remove(acceptor: Acceptor): void; handOnWaiting(): void };
	log: Log;
	/** All serve for the first time. */
	onReady(): void;
	/** Called before that with what the start of a process waits for. */
	onWaiting(reason: string): void;
	/** Called when it can't go on; `code` is to be the exit code of the process. */
	onEnd(code: number): void;
}

/**
 * Starts the processes that serve, and replaces those that end. It opens no database, no file and no plugin itself, so
 * that nothing that a request does can reach it.
 */
export class Primary {
	readonly #options: Options;
	readonly #replacing = new Replacing();
	readonly #workers = new Set<Worker>();
	/** What processes that have ended had counted. */
	#former: Family[] = [];
	#lastId = 0;
	/** Who leads, and who serves, as the processes were told last. */
	#introduced = '';
	#isReady = false;
	/** Whether one has served: what is missing is made, and no mistake of the configuration ends a process. */
	#hasServed = false;
	#isStopping = false;
	#pinging: NodeJS.Timeout | undefined;
	/** Renewals are made one after another. */
	#renewal: Promise<void> = Promise.resolve();

	constructor(options: Options) {
		this.#options = options;
	}

	/** The first process alone makes what is missing in the data folder and the database; the others start once it serves. */
	start(): void {
		this.#startOne();
		const { log } = this.#options;
		this.#pinging = setInterval(() => {
			for (const worker of this.#workers)
				if (worker.isReady && !worker.ping())
					log.error({ worker: worker.id, pid: worker.pid }, 'a process of the server hung and was killed');
			this.#introduce();
		}, pingMs);
	}

	/** Whether as many as wanted serve, and their database answers. */
	get isAlive(): boolean {
		const serving = [...this.#workers].filter(({ isReady, isStopping }) => isReady && !isStopping);
		return serving.length >= this.#options.count && serving.every(({ isAlive }) => isAlive);
	}

	/** Reads the configuration again in all; resolves to the first addition to the status line. */
	async reload(): Promise<string> {
		const outcomes = await Promise.all([...this.#workers].map((worker) => worker.reload()));
		return outcomes.find((outcome) => outcome !== '') ?? '';
	}

	/** Replaces one after another, each once a new one serves in its place. */
	renew(): void {
		this.#renewal = this.#renewal.then(async () => {
			for (const old of [...this.#workers]) if (!(await this.#renewOne(old))) return;
		});
	}

	async readMetrics(): Promise<Family[]> {
		const read = await Promise.all(
			[...this.#workers].map(async (worker) => [String(worker.id), await worker.readMetrics()] as const),
		);
		return sumFamilies(new Map(read), this.#former);
	}

	/** Resolves when all have ended. */
	async stop(): Promise<void> {
		this.#isStopping = true;
		clearInterval(this.#pinging);
		for (const worker of this.#workers) worker.stop();
		const all = Promise.all([...this.#workers].map(({ ended }) => ended));
		await Promise.race([all, delay(stopMs, undefined, { ref: false })]);
		for (const worker of this.#workers) worker.kill();
		await all;
	}

	/** Returns whether the next one is to be replaced, too. */
	async #renewOne(old: Worker): Promise<boolean> {
		if (this.#isStopping) return false;
		// It has ended meanwhile, and was replaced.
		if (!this.#workers.has(old)) return true;
		const { worker, ready } = this.#startOne();
		const isServing = await Promise.race([
			ready.then(() => true),
			worker.ended.then(() => false),
			delay(startMs, false, { ref: false }),
		]);
		if (!isServing) {
			this.#options.log.error('a new process does not serve: the others stay as they are');
			worker.kill();
			return false;
		}
		old.stop();
		this.#introduce();
		await Promise.race([old.ended, delay(stopMs, undefined, { ref: false })]);
		old.kill();
		return true;
	}

	#startOne(): { worker: Worker; ready: Promise<void> } {
		const { listener, log, env } = this.#options;
		let isReady = () => {};
		const ready = new Promise<void>((resolve) => {
			isReady = resolve;
		});
		const worker: Worker = new Worker(++this.#lastId, env, {
			onReady: () => {
				log.info({ worker: worker.id, pid: worker.pid }, 'a process serves');
				listener.add(worker);
				isReady();
				this.#introduce();
				this.#afterReady();
			},
			onLogLevel(level) {
				log.level = level;
			},
			onClosing: () => {
				listener.remove(worker);
				this.#introduce();
			},
			onTell: (messages, to) => {
				for (const other of this.#workers)
					if (other !== worker && other.isReady && (to === undefined || to === other.name)) other.tell(messages);
			},
			onWaiting: (reason) => {
				if (!this.#isReady) this.#options.onWaiting(reason);
			},
			onRoom: () => listener.handOnWaiting(),
		});
		this.#workers.add(worker);
		void worker.ended.then((code) => this.#afterEnd(worker, code));
		return { worker, ready };
	}

	/** Tells all who serves and who leads: the first of those that answer. */
	#introduce(): void {
		const serving = [...this.#workers].filter(({ isReady }) => isReady);
		const leader = serving.find(({ isStopping, answers }) => !isStopping && answers) ?? serving[0];
		const state = JSON.stringify([leader?.id, ...serving.map(({ name }) => name)]);
		if (state === this.#introduced) return;
		this.#introduced = state;
		for (const worker of serving) {
			const names = serving.filter((other) => other !== worker).map(({ name }) => name);
			worker.introduce(names, worker === leader);
		}
	}

	#afterReady(): void {
		this.#hasServed = true;
		if (this.#isReady || this.#isStopping) return;
		const { count, onReady } = this.#options;
		while (this.#workers.size < count) this.#startOne();
		if ([...this.#workers].some(({ isReady }) => !isReady)) return;
		this.#isReady = true;
		onReady();
	}

	async #afterEnd(worker: Worker, code: number | null): Promise<void> {
		const { count, listener, log, onEnd } = this.#options;
		listener.remove(worker);
		this.#workers.delete(worker);
		this.#introduce();
		const ofIt = new Map([[String(worker.id), worker.families]]);
		this.#former = sumFamilies(ofIt, this.#former).filter(({ type }) => type !== 'gauge');
		// Where it was to be replaced, another one has been started already.
		if (this.#isStopping || this.#workers.size >= count) return;
		const { id, pid, signal } = worker;
		if (code !== 0) log.error({ worker: id, pid, code, signal }, 'a process of the server ended by itself');
		if (!this.#hasServed) return onEnd(code ?? 1);
		const pause = this.#replacing.after(performance.now());
		if (pause === undefined) {
			log.fatal('processes of the server end again and again: stopping');
			return onEnd(70);
		}
		await delay(pause);
		if (!this.#isStopping && this.#workers.size < count) this.#startOne();
	}
}

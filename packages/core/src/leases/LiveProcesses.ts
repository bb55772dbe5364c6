import { setTimeout as wait } from 'node:timers/promises';
import type { LiveProcess, ProcessFacts, ProcessStore } from '@stowage/plugin-api';
import { nodeOf } from '../config/nodeOf.js';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import { Capabilities, type CapabilityParts } from './Capabilities.js';
import { clockFaults, differingSettings, digestsOf, maxNodeClockMs } from './nodeFaults.js';
import { identifyProcess, type ProcessIdentity } from './processIdentity.js';
import type { RootReaders } from './RootReaders.js';

/** How often a process looks at the rows of all and compares its clock, and how often it writes its own where that is its heartbeat. */
const beatMs = 5000;

/** How long after its row was written a process counts as living without a doubt, and how long a newcomer waits for a heartbeat. */
export const liveMs = 20_000;

/** Rows that are so old are forgotten, and looked for so often. */
export const forgottenMs = 60 * 60_000;
const sweepMs = 10 * 60_000;

/** How often a process without a heartbeat writes its row, so that it is not forgotten. */
const keepMs = 30 * 60_000;

/** How often a command looks whether others have answered. */
const askMs = 500;

interface Dependencies extends CapabilityParts {
	config: Config;
	database: { processes: ProcessStore | undefined };
	identity: ProcessIdentity;
	version: string;
	log: Log;
	/** Milliseconds between two beats. @default 5000 */
	beatMs?: number;
	/** Called after each beat that has found processes of other nodes. */
	onOtherNodes?(): void;
}

/**
 * The processes that live over one database server, this one among them. Over a file there is nothing to do.
 *
 * Each has a row while it serves, and looks at all rows every five seconds. Processes of the same machine, node and version (local peers)
 * see by the PID whether another one has ended, so they write nothing while there are no other rows. As soon as there is one of any
 * other process, all write theirs every five seconds, as a heartbeat, until it is gone: removed when that process ends, or forgotten
 * after an hour. So of two that live on different machines each sees the other's row, and both have a heartbeat. An old row of a
 * process elsewhere is doubtful for a newcomer: it counts as living until that process had the time to find the newcomer's row.
 */
export class LiveProcesses implements RootReaders {
	readonly #dependencies: Dependencies;
	readonly #capabilities: Capabilities;
	#timer: NodeJS.Timeout | undefined;
	#beating: Promise<void> | undefined;
	#clockOffset = 0;
	#isClockOff = false;
	#hasBegun = false;
	/** Since when others can find this process's row; undefined while it has none, as a command, or one that was forgotten. */
	#announcedAt: number | undefined;
	/** What the row says, and since when. */
	#written = { facts: '', at: Number.NEGATIVE_INFINITY };
	/** Whether it needs no heartbeat: all who have rows are local peers. */
	#isQuiet = false;
	/** What was logged last. */
	#said = '';
	/** The digest of the list of roots that was read last. */
	#roots = '';
	#others: readonly LiveProcess[] = [];
	#sweptAt = Number.NEGATIVE_INFINITY;

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
		this.#capabilities = new Capabilities(dependencies);
	}

	/** Whether the clock of this process, or that of its database, is wrong by more than two seconds. */
	get isClockOff(): boolean {
		return this.#isClockOff;
	}

	/** Whether processes of other nodes live, as known since the last beat. */
	get hasOtherNodes(): boolean {
		const own = nodeOf(this.#dependencies.config);
		return this.#others.some(({ node }) => node !== own);
	}

	/** Whether this process or another live one has a capability, as known since the last beat. */
	isOffered(capability: string): boolean {
		return (
			this.#capabilities.has(capability) || this.#others.some(({ capabilities }) => capabilities.includes(capability))
		);
	}

	/** Whether what needs this capability waits: this process lacks it, and it may be back in a moment, here or at another one. */
	isAwaited(capability: string): boolean {
		return this.#capabilities.isAwaited(capability);
	}

	/** @inheritdoc */
	async noteRoots(digest: string): Promise<void> {
		this.#roots = digest;
		// At once: a command waits for it.
		if (this.#hasBegun) await this.#beatOnce();
	}

	/** @inheritdoc */
	async withOtherRoots(digest: string): Promise<string[]> {
		const { others } = await this.#findOthers();
		const late = others.filter(({ roots }) => roots !== digest);
		return [...new Set(late.map(({ node }) => `node ${node}`))];
	}

	/** Whether a process on another machine that served over this database server is certainly gone, or has stood still for a while. */
	async isSilent(name: string): Promise<boolean> {
		const { living } = await this.#look();
		return this.#hadTimeToAnswer() && !living.some((process) => process.name === name);
	}

	/** All others that serve. May take some seconds, in which those of other machines are waited for. */
	async othersThatServe(): Promise<LiveProcess[]> {
		for (;;) {
			const { others, areDoubted } = await this.#findOthers();
			if (!areDoubted) return others;
			await wait(askMs);
		}
	}

	async begin(): Promise<void> {
		this.#capabilities.begin();
		if (this.#dependencies.database.processes === undefined) return;
		this.#hasBegun = true;
		await this.#beatOnce();
		this.#timer = setInterval(() => {
			if (this.#beating === undefined) void this.#beatOnce();
		}, this.#dependencies.beatMs ?? beatMs).unref();
	}

	async close(): Promise<void> {
		clearInterval(this.#timer);
		await this.#beating;
		if (this.#announcedAt === undefined) return;
		const { database, identity, log } = this.#dependencies;
		await database.processes?.remove(identity.name).catch((error: unknown) => {
			log.warn({ err: error }, 'the row of this process could not be removed; it expires');
		});
	}

	/** Begins a beat once the one under way has ended. */
	#beatOnce(): Promise<void> {
		const beating = (this.#beating ?? Promise.resolve())
			.then(() => this.#beat())
			.finally(() => {
				if (this.#beating === beating) this.#beating = undefined;
			});
		this.#beating = beating;
		return beating;
	}

	async #beat(): Promise<void> {
		const { database, log, monotonic } = this.#dependencies;
		const { processes } = database;
		if (processes === undefined) return;
		try {
			const { offset, uncertainty } = await processes.compareClock();
			this.#clockOffset = offset;
			// A slow answer proves nothing in either direction.
			if (Math.abs(offset) - uncertainty > maxNodeClockMs) this.#isClockOff = true;
			else if (Math.abs(offset) + uncertainty <= maxNodeClockMs) this.#isClockOff = false;
			const before = await this.#look();
			const isNew = this.#announcedAt === undefined;
			this.#isQuiet = this.#areLocalPeers([...before.living, ...before.doubtful]) && !this.#isClockOff;
			const isChanged = JSON.stringify(this.#facts()) !== this.#written.facts;
			if (!this.#isQuiet || isChanged || monotonic() - this.#written.at >= keepMs) await this.#write(processes);
			const { living, doubtful } = isNew ? await this.#look() : before;
			this.#noteOthers([...living, ...(this.#hadTimeToAnswer() ? [] : doubtful)]);
			this.#say([...clockFaults(living), ...differingSettings(living)]);
			if (this.hasOtherNodes) this.#dependencies.onOtherNodes?.();
			await this.#sweep(processes);
		} catch (error) {
			this.#isQuiet = false;
			log.warn(
				{ err: error },
				'the processes over this database could not be looked at, or not be told that this one lives',
			);
		}
	}

	/** What the row says. That of a command has no settings and no version: it takes part in nothing, but is seen by all. */
	#facts(): ProcessFacts {
		const { config, identity, version } = this.#dependencies;
		return {
			name: identity.name,
			node: nodeOf(config),
			version: this.#hasBegun ? version : '',
			clockOffset: this.#isClockOff ? this.#clockOffset : 0,
			settings: this.#hasBegun ? digestsOf(config) : {},
			capabilities: this.#capabilities.names(),
			roots: this.#roots,
		};
	}

	async #write(processes: ProcessStore): Promise<void> {
		const { monotonic } = this.#dependencies;
		const facts = this.#facts();
		await processes.beat(facts);
		this.#written = { facts: JSON.stringify(facts), at: monotonic() };
		this.#announcedAt ??= monotonic();
	}

	/** Whether all of these see by themselves whether this process has ended, which has a row itself. */
	#areLocalPeers(rows: readonly LiveProcess[]): boolean {
		const { config, identity, version } = this.#dependencies;
		const isPeer = (row: LiveProcess) => isLocal(row, { node: nodeOf(config), identity }) && row.version === version;
		return rows.some(({ name }) => name === identity.name) && rows.every(isPeer);
	}

	/** The rows of all processes that may live, this one's among them. */
	async #look(): Promise<Record<'living' | 'doubtful', LiveProcess[]>> {
		const { config, database, identity, monotonic } = this.#dependencies;
		const all = (await database.processes?.live(forgottenMs)) ?? [];
		const { living, doubtful } = await byDoubt(all, { node: nodeOf(config), identity });
		// It is forgotten if this process was cut off, or its machine suspended: others may have given up their heartbeat since.
		if (all.some(({ name }) => name === identity.name)) this.#announcedAt ??= monotonic();
		else this.#announcedAt = undefined;
		return { living, doubtful };
	}

	/** The processes that serve besides this one, and until they had time to answer those that may. A command adds its row for it. */
	async #findOthers(): Promise<{ others: LiveProcess[]; areDoubted: boolean }> {
		const { database, identity } = this.#dependencies;
		const { living, doubtful } = await this.#look();
		const areDoubted = doubtful.length > 0 && !this.#hadTimeToAnswer();
		if (areDoubted && this.#announcedAt === undefined && database.processes !== undefined)
			await this.#write(database.processes);
		const others = [...living, ...(areDoubted ? doubtful : [])].filter(({ name }) => name !== identity.name);
		return { others, areDoubted };
	}

	/** Whether who lives elsewhere has found this process's row since, and begun its heartbeat. */
	#hadTimeToAnswer(): boolean {
		return this.#announcedAt !== undefined && this.#dependencies.monotonic() - this.#announcedAt >= liveMs;
	}

	async #sweep(processes: ProcessStore): Promise<void> {
		const now = this.#dependencies.monotonic();
		if (now - this.#sweptAt < sweepMs) return;
		await processes.sweep(forgottenMs);
		this.#sweptAt = now;
	}

	#noteOthers(processes: readonly LiveProcess[]): void {
		const others = processes.filter(({ name }) => name !== this.#dependencies.identity.name);
		this.#others = others;
		for (const { capabilities } of others) this.#capabilities.noteElsewhere(capabilities);
	}

	/** Logs in what the nodes do not agree, each time that this is something else. */
	#say(faults: readonly string[]): void {
		const text = faults.join('\n');
		if (text === this.#said) return;
		this.#said = text;
		for (const reason of faults) this.#dependencies.log.warn({ reason }, 'the nodes do not agree');
		if (faults.length === 0) this.#dependencies.log.info('the nodes agree again');
	}
}

interface Place {
	node: string;
	identity: Pick<ProcessIdentity, 'canTell' | 'hasEnded'>;
}

/** Whether who is here sees whether that process has ended. */
function isLocal({ name, node }: LiveProcess, here: Place): boolean {
	return node === here.node && here.identity.canTell(name);
}

/** The processes that live, as seen from here, and the doubtful ones: processes elsewhere whose rows are old. Who has ended is neither. */
export async function byDoubt(
	rows: readonly LiveProcess[],
	here: Place,
): Promise<Record<'living' | 'doubtful', LiveProcess[]>> {
	const living: LiveProcess[] = [];
	const doubtful: LiveProcess[] = [];
	for (const row of rows) {
		const isHere = isLocal(row, here);
		if (isHere && (await here.identity.hasEnded(row.name))) continue;
		if (row.ageMs < liveMs) living.push(row);
		else if (!isHere) doubtful.push(row);
		// An older one was not written in its time: its PID is another process's by now.
		else if (row.ageMs < keepMs + liveMs) living.push(row);
	}
	return { living, doubtful };
}

/** The processes that serve over a database, as a command finds them. */
export async function findServing(
	config: Config,
	database: { processes: ProcessStore | undefined },
	log: Log,
): Promise<LiveProcess[]> {
	const processes = new LiveProcesses({
		...{ config, database, log, version: '', monotonic: () => performance.now() },
		identity: await identifyProcess(),
		capabilities: () => new Map(),
	});
	try {
		return await processes.othersThatServe();
	} finally {
		await processes.close();
	}
}

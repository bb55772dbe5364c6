import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { LiveProcess, ProcessFacts, ProcessStore } from '@stowage/plugin-api';
import { settingNames } from '../config/leaves.js';
import { nodeOf } from '../config/nodeOf.js';
import { settingOf } from '../config/reload.js';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import { identifyProcess, type ProcessIdentity } from './processIdentity.js';
import type { RootReaders } from './RootReaders.js';

/** How often a process says that it lives, and compares its clock. */
const beatMs = 5000;

/** How long after its last beat a process counts as living. */
export const liveMs = 20_000;

/** A capability that no live process has had for so long is not waited for any more: a process that starts anew is there again by then. */
const restartMs = 10 * 60_000;

/** After its first minute a process looks up what it can do so often: that costs more than all else of a beat. */
const firstLooksMs = 60_000;
const lookMs = 30_000;

/** Processes that were not seen for so long are forgotten, and such rows are looked for so often. */
const forgottenMs = 60 * 60_000;
const sweepMs = 10 * 60_000;

/** How often a process writes its row that need not say that it lives, so that it is not forgotten. */
const keepMs = 30 * 60_000;

/** By then who lives elsewhere has found a new row, and said so. */
const answerMs = 12_000;

/** How often it is looked whether they have. */
const askMs = 500;

/** Clocks may differ by so much without harm. */
export const maxNodeClockMs = 2000;

/** Settings that users notice, so that they should be the same wherever a request arrives. */
const noticed = [
	'basePath',
	'publicUrl',
	'registration',
	'visitors',
	'publicListing',
	'uploads',
	'quotas',
	'trash',
	'versions',
	'shares',
	'downloads.maxZipEntries',
	'externalViewers',
	'storage',
	'auth',
	'plugins',
];

interface Dependencies {
	config: Config;
	database: { processes: ProcessStore | undefined };
	identity: ProcessIdentity;
	version: string;
	/** Those that plugins have registered, by name: whether this process has it now. */
	capabilities(): ReadonlyMap<string, () => boolean>;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** Milliseconds between two beats. @default 5000 */
	beatMs?: number;
	/** Called after each beat that has found processes of other nodes. */
	onOtherNodes?(): void;
}

/**
 * The processes that live over one database server, this one among them. Over a file there is nothing to do.
 *
 * Each has a row as long as it serves, and looks at those of all every five seconds. Who is of the same machine, node and version can
 * see whether another one has ended, so nothing is written while there are only rows of such. As soon as there is one of any other
 * process, all write every five seconds until it is gone: removed when it ends, or forgotten after an hour. So of two that live on
 * different machines each knows of the other, and a row that is old when this process comes is doubtful until its process had
 * time to find the new one.
 */
export class LiveProcesses implements RootReaders {
	readonly #dependencies: Dependencies;
	#timer: NodeJS.Timeout | undefined;
	#beating: Promise<void> | undefined;
	#clockOffset = 0;
	#isClockOff = false;
	#hasBegun = false;
	/** Since when others can find this process's row. */
	#announcedAt: number | undefined;
	/** What the row says, and since when. */
	#written = { facts: '', at: Number.NEGATIVE_INFINITY };
	/** Whether all who have rows see by themselves that this process lives. */
	#isAlone = false;
	/** What was logged last. */
	#said = '';
	/** The digest of the list of roots that was read last. */
	#roots = '';
	#others: readonly LiveProcess[] = [];
	/** When each capability was seen last at another process. */
	readonly #seenElsewhere = new Map<string, number>();
	#begunAt = Number.NEGATIVE_INFINITY;
	#sweptAt = Number.NEGATIVE_INFINITY;
	/** The capabilities of this process, as looked up last. */
	#here: { at: number; names: readonly string[] } = { at: Number.NEGATIVE_INFINITY, names: [] };

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
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
		return this.#hasHere(capability) || this.#others.some(({ capabilities }) => capabilities.includes(capability));
	}

	/** Whether what needs this capability is left to others: this process lacks it, and one that has it lives or may be starting anew. */
	isLeftToOthers(capability: string): boolean {
		const { database, monotonic } = this.#dependencies;
		if (database.processes === undefined || this.#hasHere(capability)) return false;
		return monotonic() - (this.#seenElsewhere.get(capability) ?? this.#begunAt) < restartMs;
	}

	/** @inheritdoc */
	async noteRoots(digest: string): Promise<void> {
		this.#roots = digest;
		// At once: a command waits for it.
		if (this.#hasBegun) await this.#beatOnce();
	}

	/** @inheritdoc */
	async withOtherRoots(digest: string): Promise<string[]> {
		const others = (await this.#findOthers()).filter(({ roots }) => roots !== digest);
		return [...new Set(others.map(({ node }) => `node ${node}`))];
	}

	/** Whether a process that serves over this database server, on whichever machine, has not said for a while that it lives. */
	async isSilent(name: string): Promise<boolean> {
		const { monotonic } = this.#dependencies;
		if (this.#announcedAt === undefined || monotonic() - this.#announcedAt < liveMs) return false;
		return !(await this.#look()).living.some((process) => process.name === name);
	}

	/** All others that serve. May take some seconds, in which those of other machines are asked. */
	async othersThatServe(): Promise<LiveProcess[]> {
		for (;;) {
			const others = await this.#findOthers();
			if (others.every(({ ageMs }) => ageMs < liveMs) || this.#wereAsked()) return others;
			await wait(askMs);
		}
	}

	async begin(): Promise<void> {
		if (this.#dependencies.database.processes === undefined) return;
		this.#hasBegun = true;
		this.#begunAt = this.#dependencies.monotonic();
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

	#hasHere(capability: string): boolean {
		return this.#dependencies.capabilities().get(capability)?.() ?? false;
	}

	/** After one that is under way. */
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
		const { database, identity, log, monotonic } = this.#dependencies;
		const { processes } = database;
		if (processes === undefined) return;
		try {
			const { offset, uncertainty } = await processes.compareClock();
			this.#clockOffset = offset;
			// A slow answer proves nothing in either direction.
			if (Math.abs(offset) - uncertainty > maxNodeClockMs) this.#isClockOff = true;
			else if (Math.abs(offset) + uncertainty <= maxNodeClockMs) this.#isClockOff = false;
			const facts = JSON.stringify(this.#facts());
			const isDue = !this.#isAlone || facts !== this.#written.facts || monotonic() - this.#written.at >= keepMs;
			if (isDue) await this.#write(processes);
			const { rows, living } = await this.#look();
			this.#isAlone = this.#seesAll(rows);
			// Who has come meanwhile waits for it.
			if (!this.#isAlone && !isDue) await this.#write(processes);
			this.#noteOthers(living.filter(({ name }) => name !== identity.name));
			this.#say([...clockFaults(living), ...differingSettings(living)]);
			if (this.hasOtherNodes) this.#dependencies.onOtherNodes?.();
			await this.#sweep(processes);
		} catch (error) {
			this.#isAlone = false;
			log.warn({ err: error }, 'this process could not tell the others that it lives');
		}
	}

	#facts(): ProcessFacts {
		const { config, identity, version } = this.#dependencies;
		return {
			name: identity.name,
			node: nodeOf(config),
			version,
			clockOffset: this.#isClockOff ? this.#clockOffset : 0,
			settings: digestsOf(config),
			capabilities: this.#capabilities(),
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

	/** Whether this process's row is there, and all others are of processes that see by themselves whether it lives. */
	#seesAll(rows: readonly LiveProcess[]): boolean {
		const { identity, version } = this.#dependencies;
		const seeing = rows.every((row) => row.name === identity.name || (this.#isBeside(row) && row.version === version));
		return seeing && !this.#isClockOff && rows.some(({ name }) => name === identity.name);
	}

	/** Whether this process sees whether that one has ended. */
	#isBeside({ name, node }: LiveProcess): boolean {
		const { config, identity } = this.#dependencies;
		return node === nodeOf(config) && identity.canTell(name);
	}

	/** All rows; `doubtful` are old ones of processes elsewhere. */
	async #look(): Promise<Record<'rows' | 'living' | 'doubtful', LiveProcess[]>> {
		const { database, identity } = this.#dependencies;
		const rows = (await database.processes?.live(forgottenMs)) ?? [];
		const living: LiveProcess[] = [];
		const doubtful: LiveProcess[] = [];
		for (const row of rows) {
			if (row.ageMs < liveMs || row.name === identity.name) living.push(row);
			else if (!this.#isBeside(row)) doubtful.push(row);
			else if (!(await identity.hasEnded(row.name))) living.push(row);
		}
		return { rows, living, doubtful };
	}

	/** Those that serve besides this process, and until they had time to answer also those that may. A command makes itself known for it. */
	async #findOthers(): Promise<LiveProcess[]> {
		const { database, identity } = this.#dependencies;
		const { living, doubtful } = await this.#look();
		const isDoubted = doubtful.length > 0 && !this.#wereAsked();
		if (isDoubted && this.#announcedAt === undefined && database.processes !== undefined)
			await this.#write(database.processes);
		return [...living, ...(isDoubted ? doubtful : [])].filter(({ name }) => name !== identity.name);
	}

	#wereAsked(): boolean {
		return this.#announcedAt !== undefined && this.#dependencies.monotonic() - this.#announcedAt >= answerMs;
	}

	async #sweep(processes: ProcessStore): Promise<void> {
		const now = this.#dependencies.monotonic();
		if (now - this.#sweptAt < sweepMs) return;
		await processes.sweep(forgottenMs);
		this.#sweptAt = now;
	}

	#capabilities(): readonly string[] {
		const { capabilities, monotonic } = this.#dependencies;
		const now = monotonic();
		if (now - this.#begunAt < firstLooksMs || now - this.#here.at >= lookMs)
			this.#here = { at: now, names: [...capabilities().keys()].filter((each) => this.#hasHere(each)) };
		return this.#here.names;
	}

	#noteOthers(others: readonly LiveProcess[]): void {
		this.#others = others;
		const now = this.#dependencies.monotonic();
		for (const { capabilities } of others) for (const each of capabilities) this.#seenElsewhere.set(each, now);
	}

	/** Each time that something is different. */
	#say(faults: readonly string[]): void {
		const text = faults.join('\n');
		if (text === this.#said) return;
		this.#said = text;
		for (const reason of faults) this.#dependencies.log.warn({ reason }, 'the nodes do not agree');
		if (faults.length === 0) this.#dependencies.log.info('the nodes agree again');
	}
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

function digestsOf(config: Config): Record<string, string> {
	const names = settingNames.filter((name) =>
		noticed.some((prefix) => name === prefix || name.startsWith(`${prefix}.`)),
	);
	return Object.fromEntries(
		names.map((name) => {
			const value = name === 'plugins' ? [...config.plugins.keys()].sort() : settingOf(config, name);
			return [
				name,
				createHash('sha256')
					.update(JSON.stringify(value ?? null))
					.digest('base64url')
					.slice(0, 12),
			];
		}),
	);
}

/** Sentences about nodes whose clocks are wrong. */
export function clockFaults(live: readonly LiveProcess[]): string[] {
	const faults = live.flatMap(({ node, clockOffset, ageMs }) => {
		if (clockOffset !== 0)
			return [`The clock of node ${node} and that of its database differ: the node's is ${spanOf(clockOffset)}.`];
		// What it wrote will be written, by the database that was asked.
		return ageMs < -maxNodeClockMs
			? [`The clock of the database of node ${node} is ahead of that of another node's.`]
			: [];
	});
	return [...new Set(faults)];
}

function spanOf(offset: number): string {
	return `${Math.round(Math.abs(offset) / 1000)} s ${offset > 0 ? 'ahead' : 'behind'}`;
}

/** Sentences about settings that users notice and that differ between nodes. */
export function differingSettings(live: readonly LiveProcess[]): string[] {
	const [first, ...others] = live;
	if (first === undefined) return [];
	// One of another version may have other settings.
	const names = Object.keys(first.settings).filter((name) => others.every(({ settings }) => name in settings));
	return names.flatMap((name) => {
		const other = others.find(({ settings }) => settings[name] !== first.settings[name]);
		return other === undefined
			? []
			: [`The setting ${name} differs between node ${first.node} and node ${other.node}.`];
	});
}

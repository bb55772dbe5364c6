import { stat } from 'node:fs/promises';
import { findProgram, type PluginLog } from '@stowage/plugin-api';
import { Encoder } from './Encoder.js';

export interface HandBrakeOptions {
	/** The name of HandBrakeCLI, or its absolute path. */
	program: string;
	/** The same of bubblewrap; false for none. */
	bwrap: string | false;
	memoryBytes: number;
	mayUseHardware: boolean;
}

/** A HandBrake that works. */
export interface InstalledHandBrake {
	version: string;
	/** Names of its encoders, for video and audio. */
	encoders(): Promise<ReadonlySet<string>>;
	encoder: Encoder;
}

const probeTimeoutMs = 60_000;

/** A HandBrake that did not work is tried again after this time: the machine may have been too busy. */
const probeIntervalMs = 60_000;

/** The installed HandBrake: checked at each call, and run once when it has changed. */
export class HandBrake {
	#probed: { key: string; triedAt: number; found: Promise<InstalledHandBrake | undefined> } | undefined;
	#isAvailable = false;

	constructor(
		readonly options: HandBrakeOptions,
		readonly log: PluginLog,
	) {}

	/** Whether it was available at the last check. */
	get isAvailable(): boolean {
		return this.#isAvailable;
	}

	/** Undefined if it is not installed or does not run. */
	async find(): Promise<InstalledHandBrake | undefined> {
		const { program, bwrap } = this.options;
		const at = await findProgram(program);
		const bwrapAt = bwrap === false ? undefined : await findProgram(bwrap);
		const key = `${await identity(at)} ${await identity(bwrapAt)}`;
		const isStale = !this.#isAvailable && performance.now() - (this.#probed?.triedAt ?? 0) > probeIntervalMs;
		if (this.#probed?.key !== key || (isStale && at !== undefined)) {
			this.#probed = { key, triedAt: performance.now(), found: this.#probe(at, bwrapAt) };
		}
		const found = await this.#probed.found;
		this.#isAvailable = found !== undefined;
		return found;
	}

	async #probe(program: string | undefined, bwrap: string | undefined): Promise<InstalledHandBrake | undefined> {
		if (program === undefined) {
			this.log.info({ program: this.options.program }, 'HandBrake is not installed: videos can not be converted');
			return undefined;
		}
		const { memoryBytes, mayUseHardware } = this.options;
		const cages = bwrap === undefined ? [] : [true, false].map((hasOwnProc) => ({ bwrap, hasOwnProc }));
		let tried: InstalledHandBrake | undefined;
		for (const sandbox of [...cages, undefined]) {
			tried ??= await this.#probeEncoder(new Encoder({ program, sandbox, memoryBytes, mayUseHardware }));
		}
		if (tried === undefined) return undefined;
		const { encoder, version } = tried;
		const message = encoder.isSandboxed
			? 'HandBrake runs in a bubblewrap cage without network and files'
			: bwrap === undefined
				? 'HandBrake runs with limits only, since bubblewrap is not installed'
				: 'HandBrake runs with limits only, since bubblewrap does not work here';
		this.log.info({ program, version, cage: encoder.options.sandbox }, message);
		return tried;
	}

	async #probeEncoder(encoder: Encoder): Promise<InstalledHandBrake | undefined> {
		try {
			const signal = AbortSignal.timeout(probeTimeoutMs);
			const outcome = await encoder.run(['--version'], { signal });
			const [, version] = /^HandBrake (\S+)/m.exec(outcome.output) ?? [];
			if (outcome.code === 0 && version !== undefined) return { version, encoder, encoders: lookUpEncoders(encoder) };
			this.log.info(
				{ code: outcome.code, cage: encoder.options.sandbox, lines: outcome.log },
				'a test run of HandBrake failed',
			);
		} catch (error) {
			this.log.warn({ err: error, cage: encoder.options.sandbox }, 'HandBrake could not be started');
		}
		return undefined;
	}
}

/** Lists the encoders once, when they are needed. */
function lookUpEncoders(encoder: Encoder): () => Promise<ReadonlySet<string>> {
	let names: Promise<ReadonlySet<string>> | undefined;
	return () => {
		names ??= encoder
			.run(['--help'], { signal: AbortSignal.timeout(probeTimeoutMs) })
			.then(({ output }) => parseEncoders(output))
			.catch((error: unknown) => {
				names = undefined;
				throw error;
			});
		return names;
	};
}

/** Identifies the installed version. */
async function identity(program: string | undefined): Promise<string> {
	if (program === undefined) return '';
	try {
		const { ino, size, mtimeMs } = await stat(program);
		return [program, ino, size, mtimeMs].join(':');
	} catch {
		// It was just removed; the next check finds that out.
		return '';
	}
}

/** The names below the options for encoders in `--help`. */
export function parseEncoders(help: string): ReadonlySet<string> {
	const names = new Set<string>();
	let isList = false;
	for (const line of help.split('\n')) {
		if (/^\s+-/.test(line)) isList = /^\s+-[eE],/.test(line);
		else if (isList && /^\s+\S+\s*$/.test(line)) names.add(line.trim());
		else isList = isList && line.trim() !== '';
	}
	return names;
}

import { stat } from 'node:fs/promises';
import { findProgram, findSandbox, isFailure, type PluginLog, type Sandbox } from '@stowage/plugin-api';
import { notNow, SandboxedProgram } from './SandboxedProgram.js';

export interface HandBrakeOptions {
	/** The name of HandBrakeCLI, or its absolute path. */
	program: string;
	/** The name of ffprobe, or its absolute path. */
	ffprobe: string;
	/** The name of bubblewrap, or its absolute path; false for none. */
	bwrap: string | false;
	/** Whether Landlock may be the sandbox. */
	landlock: boolean;
	/** Whether the programs run with limits only where no sandbox works. */
	allowWithoutSandbox: boolean;
	memoryBytes: number;
	mayUseHardware: boolean;
}

/** A HandBrake that works, with what a conversion needs besides. */
export interface InstalledHandBrake {
	version: string;
	/** Names of its encoders, for video and audio. */
	encoders(): Promise<ReadonlySet<string>>;
	encoder: SandboxedProgram;
	/** An ffprobe in the encoder's sandbox. */
	ffprobe: SandboxedProgram;
	/** An ffprobe in that sandbox with as much memory as the encoder has, since it decodes the same frames. */
	decoder: SandboxedProgram;
}

/** Whether videos can be converted, and why not: a sentence for people. */
export type Found = { installed: InstalledHandBrake } | { installed: undefined; reason: string };

const probeTimeoutMs = 60_000;

/** What did not work is tried again after this time: the machine may have been too busy. */
const probeIntervalMs = 60_000;

/** ffprobe holds a few packets and the index of a film. */
const ffprobeMemoryBytes = 1024 ** 3;

/** The installed HandBrake, with ffprobe and the sandbox for both: checked at each call, and run once when any of them has changed. */
export class HandBrake {
	#probed: { key: string; triedAt: number; found: Promise<Found> } | undefined;
	#isAvailable = false;
	#background: Promise<void> | undefined;
	/** Why it was unavailable, as the log says. */
	#reported: string | undefined;

	constructor(
		readonly options: HandBrakeOptions,
		readonly log: PluginLog,
	) {}

	/** Whether it was available at the last check. */
	get isAvailable(): boolean {
		return this.#isAvailable;
	}

	async find(): Promise<Found> {
		const { program, ffprobe, bwrap, landlock } = this.options;
		const at = await findProgram(program);
		const ffprobeAt = await findProgram(ffprobe);
		const bwrapAt = bwrap === false ? undefined : await findProgram(bwrap);
		const isComplete = at !== undefined && ffprobeAt !== undefined;
		// Asked each time: where a stronger one could not be tried, it may work by now.
		const sandbox = isComplete ? await findSandbox({ bwrap: bwrapAt ?? false, landlock }) : undefined;
		const identities = await Promise.all([at, ffprobeAt, bwrapAt].map(identity));
		const key = [...identities, sandbox?.description].join(' ');
		const isStale = !this.#isAvailable && performance.now() - (this.#probed?.triedAt ?? 0) > probeIntervalMs;
		if (this.#probed?.key !== key || (isStale && at !== undefined)) {
			this.#probed = { key, triedAt: performance.now(), found: this.#probe(at, ffprobeAt, sandbox) };
		}
		const probed = this.#probed;
		try {
			const found = await probed.found;
			this.#isAvailable = found.installed !== undefined;
			return found;
		} catch (error) {
			// What could not be found out is not remembered.
			if (this.#probed === probed) this.#probed = undefined;
			throw error;
		}
	}

	/**
	 * `find` where nobody waits, once for all calls while it runs, since an answer asks for each of its jobs: a failure is in the log, and
	 * the next call tries again.
	 */
	findInBackground(): Promise<void> {
		const settled = () => {
			this.#background = undefined;
		};
		this.#background ??= this.#findOrWarn().finally(settled);
		return this.#background;
	}

	async #findOrWarn(): Promise<void> {
		try {
			await this.find();
		} catch (error) {
			this.log.warn({ err: error }, 'whether videos can be converted could not be found out');
		}
	}

	async #probe(program: string | undefined, ffprobe: string | undefined, sandbox: Sandbox | undefined): Promise<Found> {
		if (program === undefined) return this.#unavailable('HandBrake is not installed');
		if (ffprobe === undefined) {
			return this.#unavailable('ffprobe, which decides what is a video, is not installed (in Debian: ffmpeg)');
		}
		const { allowWithoutSandbox, memoryBytes, mayUseHardware } = this.options;
		// Not even where it is accepted that there is none: there may be one.
		if (sandbox?.kind === 'unknown') {
			return this.#unavailable('whether a sandbox for the encoder works here could not be found out');
		}
		if (sandbox === undefined && !allowWithoutSandbox) {
			return this.#unavailable('no sandbox for the encoder works here, neither bubblewrap nor Landlock');
		}
		const encoder = new SandboxedProgram({ program, sandbox, memoryBytes, mayUseHardware });
		const prober = new SandboxedProgram({ program: ffprobe, sandbox, memoryBytes: ffprobeMemoryBytes });
		const decoder = new SandboxedProgram({ program: ffprobe, sandbox, memoryBytes });
		const version = await this.#versionOf(encoder, ['--version'], /^HandBrake (\S+)/m);
		if (version === undefined) return this.#unavailable('a test run of HandBrake failed');
		if ((await this.#versionOf(prober, ['-version'], /^ffprobe version (\S+)/m)) === undefined) {
			return this.#unavailable('a test run of ffprobe failed');
		}
		this.#reported = undefined;
		const message = sandbox
			? `HandBrake runs in a sandbox without network and files: ${sandbox.description}`
			: 'HandBrake runs with limits only, without a sandbox, as the configuration allows';
		this.log[sandbox ? 'info' : 'warn']({ program, version, ffprobe, sandbox: sandbox?.kind }, message);
		return { installed: { version, encoder, encoders: lookUpEncoders(encoder), ffprobe: prober, decoder } };
	}

	#unavailable(why: string): Found {
		// Once, although it is tried again and again.
		if (why !== this.#reported) {
			this.log.info({ handbrake: this.options.program }, `videos can not be converted: ${why}`);
		}
		this.#reported = why;
		return { installed: undefined, reason: `Videos can't be converted on this server now: ${why}.` };
	}

	async #versionOf(program: SandboxedProgram, args: readonly string[], pattern: RegExp): Promise<string | undefined> {
		const { program: file, sandbox } = program.options;
		try {
			const outcome = await program.run(args, { signal: AbortSignal.timeout(probeTimeoutMs) });
			const [, version] = pattern.exec(outcome.output) ?? [];
			if (outcome.code === 0 && version !== undefined) return version;
			const { code, log: lines } = outcome;
			this.log.warn({ program: file, code, sandbox: sandbox?.kind, lines }, 'a test run failed');
		} catch (error) {
			this.log.warn({ err: error, program: file, sandbox: sandbox?.kind }, 'a program could not be started');
		}
		return undefined;
	}
}

/** Lists the encoders when they are needed, once they can be: throws `unavailable` otherwise. */
function lookUpEncoders(encoder: SandboxedProgram): () => Promise<ReadonlySet<string>> {
	let names: Promise<ReadonlySet<string>> | undefined;
	return () => {
		names ??= encoder
			.run(['--help'], { signal: AbortSignal.timeout(probeTimeoutMs) })
			.then(({ code, output }) => {
				const found = parseEncoders(output);
				if (code !== 0 || found.size === 0) throw notNow(new Error(`The list of encoders ended with ${code}.`));
				return found;
			})
			.catch((error: unknown) => {
				names = undefined;
				// It may have taken too long.
				throw isFailure(error) ? error : notNow(error);
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

import type { conversionDetail } from '@stowage/contract';
import {
	type DescriptorFile,
	Failure,
	isFailure,
	type JobContext,
	type PluginLog,
	timeLimit,
	type z,
} from '@stowage/plugin-api';
import type { Conversion } from './conversion.js';
import { encoderFailure, isOfFilm, notReadable, unlessDiskFailed } from './encoderFailure.js';
import { delayIn } from './films/containers/avi/aviDelay.js';
import { unendedIn } from './films/containers/oggEnds.js';
import type { Contents } from './films/containers/reading/scanner.js';
import { walkContainer } from './films/containers/walkContainer.js';
import { setCreationTime } from './films/edits/setCreationTime.js';
import { setDurations } from './films/edits/setDurations.js';
import { boxesOf, nameWithRoom, type TagBoxes, writeTags } from './films/edits/writeTags.js';
import { decodeFilm } from './films/frames/decodeFilm.js';
import { foreignMessagesIn } from './films/frames/messages.js';
import { lossesOf, unreadParts } from './films/losses/losses.js';
import { areMoved } from './films/losses/movedPictures.js';
import { countPackets, isHeldAfter, secondsByPackets } from './films/packets/countPackets.js';
import { hiddenParts, ShownPackets } from './films/packets/hiddenParts.js';
import { contentSeconds, type Film } from './films/probing/Film.js';
import { hasLayers } from './films/probing/layers.js';
import { lookArguments } from './films/probing/look.js';
import { probe } from './films/probing/probe.js';
import { scan, type Video } from './films/probing/scan.js';
import { lostLines, readLines } from './films/subtitles/lines.js';
import { conversionArguments, videoEncoder } from './formats.js';
import type { InstalledHandBrake } from './HandBrake.js';
import { parseProgress } from './progress.js';
import { patiently, type SandboxedProgram } from './SandboxedProgram.js';

type ConversionDetail = z.input<typeof conversionDetail>;

interface EncodeOptions {
	job: Pick<JobContext<Conversion>, 'id' | 'input' | 'signal' | 'progress'>;
	installed: InstalledHandBrake;
	log: PluginLog;
	timeLimitMs: number;
	/** The open original. */
	source: number;
	sourceBytes: number;
	/** What ffprobe found in it. */
	film: Film;
	isSourceChanged(): Promise<boolean>;
	target: DescriptorFile;
}

/**
 * Encodes an open file into another one and checks the output: the exit status of the program proves nothing. Throws with a sentence for
 * people. Resolves to what the output lacks of the original.
 */
export async function encode(options: EncodeOptions): Promise<string[]> {
	const { job, timeLimitMs, target } = options;
	const late = timeLimit(timeLimitMs);
	let encoded: Encoded;
	try {
		encoded = await makeOutput(options, AbortSignal.any([job.signal, target.full, late]));
	} catch (error) {
		throw late.aborted && !job.signal.aborted ? tookTooLong(timeLimitMs) : error;
	}
	const losses = await compare(options, encoded);
	reportProgress(job, 100, checking);
	return losses;
}

/** Both films, and what HandBrake has reported. */
interface Encoded {
	original: Film;
	output: Film;
	/** How many errors of its decoders, if it has said that. */
	errors: number | undefined;
	/** Seconds of a track of sound that it has left out. */
	droppedSound: number;
}

async function makeOutput(
	{ job, installed, log, source, film, isSourceChanged, target }: EncodeOptions,
	signal: AbortSignal,
): Promise<Encoded> {
	const { format, quality } = job.input;
	const { encoder, encoders, ffprobe } = installed;
	const name = videoEncoder(format, await encoders(), encoder.options.mayUseHardware === true);
	if (name === undefined) {
		throw new Failure('conflict', `HandBrake on this server has no encoder for ${format} files.`);
	}
	reportProgress(job, 0);
	const scanned = await scan(encoder, source, signal);
	if (scanned === undefined) throw await unlessDiskFailed(notReadable(), source, signal);
	const wish = { format, quality, encoder: name };
	const errors = decoderErrors();
	const dropped = droppedSound();
	// Who keeps the original may not want to pass on where it was filmed.
	const tags = format === 'mp4' && job.input.deleteOriginal ? tagsFor(film, scanned) : undefined;
	const args = [
		...['-i', '/proc/self/fd/3', '-o', '/proc/self/fd/4', ...conversionArguments(wish, scanned)],
		...film.video.slice(0, 1).flatMap(({ look, rate }) => lookArguments(look, rate, scanned)),
		...(tags === undefined ? [] : ['-A', nameWithRoom(tags)]),
	];
	const outcome = await encoder.run(args, {
		files: [source, target.descriptor],
		fileBytes: target.maxBytes,
		returnsKill: true,
		signal,
		onLogLine(line) {
			errors.take(line);
			dropped.take(line);
		},
		onLine(line) {
			const progress = parseProgress(line);
			if (progress === undefined) return;
			const { percent, ...detail } = progress;
			reportProgress(job, percent * encodingShare(job.input), detail);
		},
	});
	if (outcome.code !== 0) {
		log.warn({ job: job.id, code: outcome.code, lines: outcome.log }, 'a video could not be converted');
		throw await encoderFailure(outcome, source, signal);
	}
	reportProgress(job, 100 * encodingShare(job.input), checking);
	if (await isSourceChanged()) {
		throw new Failure('conflict', 'The original was changed while it was converted.');
	}
	if (tags !== undefined) await writeTags(target.descriptor, tags);
	if (format === 'mp4') await setDurations(target.descriptor, signal);
	if (film.madeAt !== undefined)
		await setCreationTime(target.descriptor, format === 'mp4' ? 'mov' : 'matroska', film.madeAt);
	// Hours of work wait for what it says.
	const output = await patiently(() => probe(ffprobe, target.descriptor, signal), signal);
	// Recordings that were joined say the duration of the first or the last one.
	const isKnown = film.seconds > 0 && (output === undefined || !isLonger(output, film));
	const measured = isKnown ? 0 : await patiently(() => measure(ffprobe, source, film, signal), signal);
	const original = isKnown ? film : { ...film, seconds: measured || film.seconds || scanned.seconds };
	const holdsPicture = async (since: number) => {
		const packets = await patiently(() => countPackets(ffprobe, source, signal), signal);
		return packets !== undefined && isHeldAfter(since, film, packets);
	};
	const denial = outputDenial(original, output);
	if (output === undefined || denial !== undefined) {
		log.warn({ job: job.id, original, output, lines: outcome.log }, 'a converted video is incomplete');
		const isHeld = output !== undefined && output.seconds < original.seconds && (await holdsPicture(output.seconds));
		throw denial && (await unlessDiskFailed(isHeld ? notHeld(original, output) : denial, source, signal));
	}
	return { original, output, errors: errors.count(), droppedSound: dropped.seconds() };
}

/** What phones say of a film whose only track of sound has no name of its own, in place of which they are written. */
function tagsFor({ phoneTags, named }: Film, { audioTracks }: Video): TagBoxes | undefined {
	const [track] = named.audio;
	const isNameless = named.audio.length === 1 && audioTracks.length === 1 && track?.title === '';
	return isNameless ? boxesOf(phoneTags) : undefined;
}

/** How long a film is that says no duration. */
async function measure(ffprobe: SandboxedProgram, source: number, film: Film, signal: AbortSignal): Promise<number> {
	const packets = await countPackets(ffprobe, source, signal);
	return packets === undefined ? 0 : secondsByPackets(film, packets);
}

/**
 * What the output lacks. It takes as long as to play the film fast; if that is too long, or a program can't be run for long, nothing is
 * lost, for the original is kept.
 */
async function compare(
	{ job, installed, timeLimitMs, source, sourceBytes, target }: EncodeOptions,
	{ original, output, errors, droppedSound }: Encoded,
): Promise<string[]> {
	const { ffprobe, decoder } = installed;
	const signal = AbortSignal.any([job.signal, timeLimit(timeLimitMs)]);
	const decodeAgain = () => {
		const before = 100 * encodingShare(job.input);
		const reportSeconds = (seconds: number) => {
			const share = original.seconds > 0 ? Math.min(1, seconds / original.seconds) : 0;
			reportProgress(job, before + share * (100 - before), checking);
		};
		return decodeFilm(decoder, source, signal, reportSeconds, original.container === 'mov');
	};
	const inTime = <T>(counted: Promise<T>) => counted.catch((error: unknown) => ifLate(error, job.signal, signal));
	// Begun again whole: what is counted must not have the packets of a try that was ended.
	const check = <T>(attempt: () => Promise<T>) => inTime(patiently(attempt, signal));
	const { deleteOriginal } = job.input;
	// First what takes a moment: what lacks time is then what takes long.
	const contents = await inTime(walkContainer(original.container, source, signal));
	const unreadTexts = [...(contents?.texts ?? [])].map((name) => ({ track: '', name, value: undefined }));
	const texts = [...original.texts, ...unreadTexts];
	const traits = [
		...original.traits,
		...(contents?.isEncrypted ? (['encrypted tracks'] as const) : []),
		...(isTransparent(original, contents) ? (['transparency'] as const) : []),
	];
	const unread = [...original.unread, ...unreadParts(contents)];
	const video = original.video.map((track) => ({ ...track, empty: contents?.emptyFrames.get(track.index) ?? 0 }));
	const data = original.data - Math.min(original.data, contents?.spareTracks ?? 0);
	const isLayered = await check(() => hasLayers(ffprobe, source, signal));
	const decoded = deleteOriginal ? await check(decodeAgain) : undefined;
	const shown = original.container === 'mov' ? new ShownPackets() : undefined;
	const pictures = ({ video: [track] }: Film) => track?.index;
	const packets = await check(() => countPackets(ffprobe, source, signal, { shown, picturesOf: pictures(original) }));
	const findHidden = async (known: ShownPackets) =>
		packets === undefined ? undefined : check(() => hiddenParts(ffprobe, source, known, signal));
	const hidden = shown === undefined ? new Map() : await findHidden(shown);
	const converted = {
		film: output,
		packets: await check(() => countPackets(ffprobe, target.descriptor, signal, { picturesOf: pictures(output) })),
	};
	const compareLines = async () => {
		// Those of a missing track are lost with it.
		if (output.subtitles === 0) return { unplaced: 0, changed: [], isUnforced: false };
		const before = await readLines(ffprobe, source, original, signal);
		const after = before && (await readLines(ffprobe, target.descriptor, output, signal));
		return before && after && lostLines({ film: original, lines: before }, { film: output, lines: after }, signal);
	};
	return lossesOf({
		original: { film: { ...original, video, data, texts, traits, unread }, packets },
		originalBytes: sourceBytes,
		output: converted,
		areMoved: await inTime(areMoved({ film: original, packets }, converted, signal)),
		decoded,
		decoderErrors: maxErrors(errors, deleteOriginal ? decoded?.errors : 0),
		droppedSound,
		unreadDelay: original.container === 'avi' ? await delayIn(source) : 0,
		unended: original.container === 'ogg' ? await inTime(unendedIn(source, sourceBytes, signal)) : 0,
		hidden,
		isLayered,
		attached: contents?.attached,
		foreignMessages: decoded ? await inTime(foreignMessagesIn(source, decoded.messages, signal)) : 0,
		lostLines: await check(compareLines),
	});
}

/** Whether a film that says that its pictures may be transparent has such ones; it has where that is not known. */
export function isTransparent({ container, saysAlpha }: Film, contents: Contents | undefined): boolean {
	return saysAlpha && (container !== 'matroska' || contents?.hasAdditions !== false);
}

/** Takes the error of a step that had no more time, or whose program could not be run, for no result; throws any other one. */
function ifLate(error: unknown, ended: AbortSignal, timed: AbortSignal): undefined {
	if (ended.aborted || !(timed.aborted || isFailure(error, 'unavailable'))) throw error;
}

/** Adds up the errors that HandBrake reports for each decoder at its end. */
export function decoderErrors(): { take(line: string): void; count(): number | undefined } {
	let errors: number | undefined;
	return {
		take(line) {
			if (isOfFilm(line)) return;
			const [, count] = /-decoder done: \d+ frames, (\d+) decoder errors/.exec(line) ?? [];
			if (count !== undefined) errors = (errors ?? 0) + Number(count);
		},
		count: () => errors,
	};
}

/**
 * Adds up how much sound HandBrake leaves out, as it reports each time: where the times of packets overlap, as of a device whose clock is
 * slower than that of the pictures. Players play all of it, somewhat faster or later. The seconds are those of the track with most.
 */
export function droppedSound(): { take(line: string): void; seconds(): number } {
	const tracks = new Map<string, number>();
	return {
		take(line) {
			if (isOfFilm(line)) return;
			const [, track = '', ms] = /sync: audio (0x[0-9a-f]{1,8}) time went backwards (\d{1,9}) ms/.exec(line) ?? [];
			if (ms !== undefined) tracks.set(track, (tracks.get(track) ?? 0) + Number(ms));
		},
		seconds: () => Math.max(0, ...tracks.values()) / 1000,
	};
}

/** The larger number, not the sum: most errors are found by both. */
function maxErrors(found: number | undefined, concealed: number | undefined): number | undefined {
	return found === undefined || concealed === undefined ? undefined : Math.max(found, concealed);
}

/** The encoder's part of the progress; the rest is to decode the original once more, which is many times as fast. */
const encodingShare = ({ deleteOriginal }: Conversion) => (deleteOriginal ? 0.95 : 1);

const checking = { phase: 'checking' } satisfies ConversionDetail;

function reportProgress(job: EncodeOptions['job'], percent: number, detail: ConversionDetail = {}) {
	job.progress({ done: percent, total: 100, unit: 'percent', detail });
}

function isAsLong(original: Film, output: Pick<Film, 'seconds' | 'lead'>): boolean {
	const tolerance = Math.max(1, original.seconds / 100);
	// Encoders keep the time before the first packet, or leave it out.
	return (
		Math.abs(original.seconds - output.seconds) <= tolerance ||
		Math.abs(contentSeconds(original) - contentSeconds(output)) <= tolerance
	);
}

const isLonger = (output: Film, original: Film) => output.seconds > original.seconds && !isAsLong(original, output);

/** Why an output is not as requested; undefined for a correct one. */
export function outputDenial(original: Film, output: Film | undefined): Failure | undefined {
	if (output === undefined) return new Failure('conflict', 'The converted file holds no video. The original was kept.');
	if (original.audio.length > 0 && output.audio.length === 0) {
		return new Failure('conflict', 'The converted file has lost its sound. The original was kept.');
	}
	// Players go by what the file says, whatever its tracks have.
	const said = Math.max(output.seconds, output.said);
	if (isAsLong(original, output) && isAsLong(original, { ...output, seconds: said })) return undefined;
	if (said > original.seconds) {
		return new Failure(
			'conflict',
			`The converted file lasts ${seconds(said)} instead of ${seconds(original.seconds)}. The original was kept.`,
		);
	}
	return new Failure(
		'conflict',
		`Only ${seconds(output.seconds)} of ${seconds(original.seconds)} could be converted: the original is probably damaged. It was kept.`,
	);
}

/** The encoder shows the last picture as long as any other one. */
const notHeld = (original: Film, output: Film) =>
	new Failure(
		'conflict',
		`The converted file would end after ${seconds(output.seconds)} instead of ${seconds(original.seconds)}: ` +
			'HandBrake does not hold the last picture, which stands still in the original. It was kept.',
	);

const seconds = (count: number) => `${Math.round(count * 10) / 10} s`;

function tookTooLong(timeLimitMs: number): Failure {
	return new Failure(
		'timeout',
		`The conversion was ended, since it took longer than ${Math.round(timeLimitMs / 3_600_000)} hours.`,
	);
}

import type { SandboxedProgram } from '../../SandboxedProgram.js';
import type { Film } from '../probing/Film.js';
import { source } from '../probing/probe.js';
import type { ShownPackets } from './hiddenParts.js';
import { PictureTimes } from './PictureTimes.js';
import { clearingBytes, emptyTextBytes, type Packet, parsePacket } from './packets.js';

/** What a track has. Its packets are read, not decoded. */
export interface TrackPackets {
	/** Packets that are shown: an edit of the film may leave some out. A packet of video is a frame. */
	count: number;
	/** Shown packets that are longer than an empty text of MP4, which takes the last one off the screen. */
	filled: number;
	/** Shown packets that are longer than one of PGS or DVB that takes a picture off the screen. */
	showing: number;
	/** The bytes of all packets, shown or not. */
	bytes: number;
	/** The times of the first and the last packet, in seconds, as if joined recordings were one; undefined if unknown. */
	begin: number | undefined;
	end: number | undefined;
	/** Seconds between them that lie in a gap. */
	gaps: number;
	/** Seconds between them without a packet, however short: of sound that goes on all the time none. */
	pauses: number;
	/** When the last one is over that is shown; undefined if their times are unknown. */
	heardUntil: number | undefined;
}

/** What a film has. */
export interface FilmPackets {
	/** The tracks by the index of their streams, as far as those were known before the packets were read. */
	tracks: ReadonlyMap<number, TrackPackets>;
	/** How many there are once all packets are read: streams without a table of tracks have some that begin later. */
	streams: number;
	/** When the pictures of one track are shown: none where no track was named. */
	pictures: PictureTimes;
}

/** A film and its packets; undefined where they could not be read. */
export interface ReadFilm {
	film: Film;
	packets: FilmPackets | undefined;
}

interface CountOptions {
	/** Gets where the packets are that are shown. */
	shown?: ShownPackets | undefined;
	/** The track of which the times of pictures are kept. */
	picturesOf?: number | undefined;
}

/** A pause in a track's packets from here on is a gap; no sound has packets as long. */
const shortestGap = 0.5;

/** A shorter pause between two packets is none: times of files are rounded, and recorders write them inexactly. */
const shortestPause = 0.03;

/** A packet that is decoded this much before the previous one begins another recording: within one no time steps back. */
const longestStepBack = 1;

/** What makes one time of those of recordings that were joined, each of which counts its own. */
interface Clock {
	/** When the last packet is decoded by the file; undefined if that was never known. */
	last: number | undefined;
	/** Seconds before the recording of that packet. */
	shift: number;
}

/**
 * Reads all packets of an open film: as long as it takes to read the file. Undefined if ffprobe fails, or prints more than films of
 * this size have.
 */
export async function countPackets(
	ffprobe: SandboxedProgram,
	descriptor: number,
	signal: AbortSignal,
	options: CountOptions = {},
): Promise<FilmPackets | undefined> {
	const tracks = new Map<number, TrackPackets>();
	const clocks = new Map<number, Clock>();
	const pictures = new PictureTimes();
	let streams: number | undefined;
	const args = [
		...source,
		'-show_entries',
		'packet=stream_index,pts_time,dts_time,duration_time,size,pos,flags:format=nb_streams',
		'-of',
		'csv=p=0',
	];
	const onLine = (line: string) => {
		// The last line.
		if (/^\d+$/.test(line)) streams = Number(line);
		else takePacket({ tracks, clocks, pictures }, line, options);
	};
	const { code } = await ffprobe.run(args, { files: [descriptor], printsContent: true, signal, onLine });
	return code === 0 && streams !== undefined ? { tracks, streams, pictures } : undefined;
}

/**
 * How long a film is by its packets, as `Film.seconds` has it: for one that says no duration, such as a recording that was written into a
 * pipe or was interrupted, or that of its first part only, as where recordings were joined. 0 if their times are unknown.
 */
export function secondsByPackets({ container, video, audio }: Film, { tracks }: FilmPackets): number {
	const timed = [...video, ...audio].flatMap(({ index }) => {
		const { begin, heardUntil } = tracks.get(index) ?? {};
		return begin === undefined || heardUntil === undefined ? [] : [{ begin, end: heardUntil }];
	});
	if (timed.length === 0) return 0;
	// The duration of a Matroska file includes the time before its first packet.
	const begin = container === 'matroska' ? 0 : Math.min(...timed.map((track) => track.begin));
	return Math.max(0, Math.max(...timed.map(({ end }) => end)) - begin);
}

/**
 * Whether all that is left of a film at this second is to show its last picture for longer, which only a file with a duration for it says:
 * after one that was cut off there is nothing.
 */
export function isHeldAfter(seconds: number, { video, audio }: Film, { tracks }: FilmPackets): boolean {
	const found = [...video, ...audio].flatMap(({ index }) => tracks.get(index) ?? []);
	const begin = Math.min(...found.map((track) => track.begin ?? Number.NaN));
	const pictures = video[0] && tracks.get(video[0].index);
	const isOver = ({ end = Number.NaN }: TrackPackets) => end - begin <= seconds + shortestGap;
	return found.every(isOver) && (pictures?.heardUntil ?? 0) - begin > seconds + 1;
}

interface Counting {
	tracks: Map<number, TrackPackets>;
	clocks: Map<number, Clock>;
	pictures: PictureTimes;
}

function takePacket({ tracks, clocks, pictures }: Counting, line: string, { shown, picturesOf }: CountOptions): void {
	const packet = parsePacket(line);
	if (packet === undefined) return;
	const { index, lasts, size, position, isDiscarded } = packet;
	const track = tracks.get(index) ?? newTrack();
	tracks.set(index, track);
	track.bytes += size;
	if (isDiscarded) return;
	if (position !== undefined) shown?.add(position);
	track.count++;
	if (size > emptyTextBytes) track.filled++;
	if (size > clearingBytes) track.showing++;
	if (packet.time === undefined) return;
	const before = clocks.get(index)?.shift ?? 0;
	const shift = shiftOf(clocks, packet, track);
	const time = packet.time + shift;
	if (index === picturesOf) {
		if (shift !== before) pictures.join();
		pictures.add(time);
	}
	track.begin ??= time;
	const pause = time - (track.end ?? time);
	if (pause > shortestGap) track.gaps += pause;
	const silence = time - (track.heardUntil ?? time);
	if (silence > shortestPause) track.pauses += silence;
	track.end = Math.max(time, track.end ?? time);
	// A packet of unknown length may last until a gap begins.
	const length = lasts || shortestGap;
	track.heardUntil = Math.max(time + length, track.heardUntil ?? time);
}

/** A recording that was joined to another one begins where that ends. */
function shiftOf(
	clocks: Map<number, Clock>,
	{ index, time = 0, decodedAt }: Packet,
	{ heardUntil }: TrackPackets,
): number {
	const clock = clocks.get(index) ?? { last: undefined, shift: 0 };
	clocks.set(index, clock);
	if (!Number.isFinite(decodedAt)) return clock.shift;
	if (clock.last !== undefined && decodedAt < clock.last - longestStepBack) clock.shift = (heardUntil ?? time) - time;
	clock.last = decodedAt;
	return clock.shift;
}

function newTrack(): TrackPackets {
	return {
		count: 0,
		filled: 0,
		showing: 0,
		bytes: 0,
		begin: undefined,
		end: undefined,
		gaps: 0,
		pauses: 0,
		heardUntil: undefined,
	};
}

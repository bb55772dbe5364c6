import type { SandboxedProgram } from '../../SandboxedProgram.js';
import { source } from '../probing/probe.js';
import { emptyTextBytes, type Packet, parsePacket } from './packets.js';

/** What the edit list of a track leaves out. */
export interface HiddenPart {
	/** Seconds before the first packet that is shown. */
	before: number;
	/** Seconds behind it. */
	later: number;
	/** The duration of all packets, shown or not, each once. */
	seconds: number;
}

/** Some 15 hours of video and sound; as many take 160 MB. */
const maxPackets = 4_000_000;
/** A set has as many packets as so many bytes of the file: to enlarge a large one would take long. */
const windowBytes = 2 ** 24;

/** Where in its file the packets are that a film shows. An edit list may show some again and again. */
export class ShownPackets {
	readonly #windows = new Map<number, Set<number>>();
	#count = 0;

	/** Whether all that were added are kept: not when there were too many. */
	get areKnown(): boolean {
		return this.#count <= maxPackets;
	}

	add(position: number): void {
		if (this.#count > maxPackets) return;
		const window = Math.floor(position / windowBytes);
		const known = this.#windows.get(window) ?? new Set();
		this.#windows.set(window, known);
		const { size } = known;
		this.#count += known.add(position % windowBytes).size - size;
	}

	has(position: number): boolean {
		return this.#windows.get(Math.floor(position / windowBytes))?.has(position % windowBytes) === true;
	}
}

/**
 * Reads all packets of an open MP4 or MOV once more, without its edit lists: ffprobe and HandBrake follow these, and name nothing that
 * lies outside. By the index of its streams; undefined if that can't be known.
 */
export async function hiddenParts(
	ffprobe: SandboxedProgram,
	descriptor: number,
	shown: ShownPackets,
	signal: AbortSignal,
): Promise<ReadonlyMap<number, HiddenPart> | undefined> {
	if (!shown.areKnown) return undefined;
	const parts = new Map<number, CountedPart>();
	const args = [
		...['-ignore_editlist', '1', ...source],
		...['-show_entries', 'packet=stream_index,pts_time,dts_time,duration_time,size,pos,flags', '-of', 'csv=p=0'],
	];
	const onLine = (line: string) => {
		const packet = parsePacket(line);
		if (packet !== undefined) takePacket(parts, packet, shown);
	};
	const { code } = await ffprobe.run(args, { files: [descriptor], printsContent: true, signal, onLine });
	return code === 0 ? parts : undefined;
}

interface CountedPart extends HiddenPart {
	hasBegun: boolean;
	/** The last packet, where its length was not known. */
	open: { decodedAt: number; isShown: boolean } | undefined;
}

function takePacket(parts: Map<number, CountedPart>, packet: Packet, shown: ShownPackets): void {
	const { index, position, size, lasts, decodedAt } = packet;
	// Such a one has nothing that could be hidden: a text of MP4 may end with it behind the film.
	if (position === undefined || size <= emptyTextBytes) return;
	const part = parts.get(index) ?? { before: 0, later: 0, seconds: 0, hasBegun: false, open: undefined };
	parts.set(index, part);
	// Files of a changing rate may say no lengths.
	if (part.open !== undefined) addSeconds(part, Math.max(0, decodedAt - part.open.decodedAt) || 0, part.open.isShown);
	const isShown = shown.has(position);
	part.open = lasts > 0 ? undefined : { decodedAt, isShown };
	part.hasBegun ||= isShown;
	addSeconds(part, lasts, isShown);
}

function addSeconds(part: CountedPart, seconds: number, isShown: boolean): void {
	part.seconds += seconds;
	if (!isShown) part[part.hasBegun ? 'later' : 'before'] += seconds;
}

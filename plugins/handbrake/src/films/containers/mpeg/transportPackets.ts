import type { Padding } from '../reading/padding.js';
import { type ReadAt, readerOf } from '../reading/readAt.js';
import { stepsOfTurn } from '../reading/rest.js';
import { type Contents, Findings, Scanner } from '../reading/scanner.js';
import { isEncrypted, isTrack } from './programPackets.js';

/** As broadcast, and as cameras and Blu-ray discs have it, with a time before each packet. */
const strides = [188, 192];
const packetBytes = 188;
const sync = 0x47;

/** Some thousand packets, and how many steps they are: nothing but their heads is looked at. */
const windowPackets = 4096;
const stepsOfWindow = stepsOfTurn / 16;

/** The table of programs, and what it and those of the programs say which tables they are. */
const [programsTable, programTable, conditionsTable] = [0, 2, 1];
/** In a table of a program or of conditions: where the keys of encrypted tracks are. */
const keyDescriptor = 9;
/** Before it are tables of broadcasters. */
const firstOwnPid = 0x20;
/** Of packets that only fill up. */
const nullPid = 0x1fff;

/** In the head of a packet: with which of two keys its content is encrypted. */
const encryption = 0xc0;

/** Tables of broadcasters that have no fixed place. */
const isBroadcasterTable = (id: number) => (id >= 0x40 && id <= 0x7f) || (id >= 0xc0 && id <= 0xd4);

/** More than any program has, and more than any multiplex of broadcasters. */
const maxTablePids = 1000;

/**
 * What broadcasters say of a packet beside its content: announcements, what is at its beginning (twice, and the time at which it was
 * encoded), help for recorders and a clock.
 */
const knownPrivate: ReadonlySet<number> = new Set([1, 2, 3, 4, 0xa9, 0xdf]);

interface Pid {
	/** Whether its units are sections of broadcasters' tables, and whether they are packets of a track: both until one is none. */
	isTable: boolean;
	isTrack: boolean;
	/** Whether a unit begins in it. */
	hasBegun: boolean;
}

/**
 * What the packets of a transport stream have that neither ffprobe nor HandBrake reads: those of a number (PID) that no table names, as
 * some dashboard cameras write their positions, private data beside the content of packets, and what lies between packets. Undefined if
 * that can't be known.
 */
export async function transportPackets(readAt: ReadAt, signal: AbortSignal): Promise<Contents | undefined> {
	const scanner = new Scanner(readAt, signal);
	const found = new Findings();
	const tables = new Tables();
	const pids = new Map<number, Pid>();
	const first = await scanner.bytes(0, 4 * Math.max(...strides));
	const stride = first[0] === sync && first[packetBytes] === sync ? packetBytes : Math.max(...strides);
	const isData = (bytes: Buffer) => bytes.some((byte) => byte !== 0);
	const fillers = new Fillers(scanner.padding);
	let isEmpty = true;
	for (let at = stride - packetBytes, isLast = false; !isLast; ) {
		if (!(await scanner.mayStep(stepsOfWindow))) return undefined;
		const window = await scanner.bytes(at, windowPackets * stride);
		isLast = window.length < windowPackets * stride;
		let n = 0;
		while (n + packetBytes <= window.length) {
			if (window[n] === sync) {
				isEmpty = false;
				if (pidOf(window, n) !== nullPid) takePacket(window, n, { pids, tables, found });
				else if (fillers.take(window.subarray(n, n + packetBytes))) found.addUnread('packets that fill up');
				if (hasPrivateData(window, n)) found.addUnread('private data of packets');
				n += stride;
				continue;
			}
			const next = nextPacket(window, n, stride);
			const end = next ?? (isLast ? window.length : Math.max(n + 1, window.length - 2 * stride));
			if (isData(window.subarray(n, end))) found.addUnread('what is in no packet');
			n = end;
			if (next === undefined) break;
		}
		// The last packet may not be whole.
		if (isLast && window[n] !== sync && isData(window.subarray(n))) found.addUnread('what is in no packet');
		at += n;
	}
	if (isEmpty) return undefined;
	for (const [number, { isTable, isTrack, hasBegun }] of [...pids].sort(([a], [b]) => a - b)) {
		if (tables.known.has(number) || (hasBegun && isTable)) continue;
		// Without tables ffprobe takes each for a track of its own whose packets look like it.
		if (hasBegun && isTrack && !tables.haveProgram) continue;
		found.addUnread(`PID 0x${number.toString(16)}`);
	}
	return found;
}

/** The offset of the next three packets behind one; undefined if there are none. */
function nextPacket(window: Buffer, from: number, stride: number): number | undefined {
	for (let at = window.indexOf(sync, from + 1); at >= 0; at = window.indexOf(sync, at + 1)) {
		if (at + 2 * stride >= window.length) return undefined;
		if (window[at + stride] === sync && window[at + 2 * stride] === sync) return at;
	}
	return undefined;
}

const pidOf = (window: Buffer, at: number) => window.readUInt16BE(at + 1) & 0x1fff;

/** Packets that only fill up, and have no content but one that is the same again and again. Some cameras write their data there. */
class Fillers {
	#last: Buffer = Buffer.alloc(0);

	constructor(readonly padding: Padding) {}

	/** Takes a packet. Returns whether it has data. */
	take(packet: Buffer): boolean {
		const isDamaged = (packet.readUInt8(1) & 0x80) !== 0;
		if (isDamaged) return false;
		// Behind its head, which counts them.
		const content = packet.subarray(4);
		if (content.equals(this.#last)) return false;
		this.#last = Buffer.from(content);
		return this.padding.take(content);
	}
}

interface Reading {
	pids: Map<number, Pid>;
	tables: Tables;
	found: Findings;
}

function takePacket(window: Buffer, at: number, { pids, tables, found }: Reading): void {
	const flags = window.readUInt8(at + 1);
	const number = pidOf(window, at);
	const adaptation = (window.readUInt8(at + 3) >> 4) & 3;
	const [isDamaged, isBegin] = [(flags & 0x80) !== 0, (flags & 0x40) !== 0];
	if (isDamaged || (adaptation & 1) === 0) return;
	const begin = at + 4 + (adaptation === 3 ? 1 + window.readUInt8(at + 4) : 0);
	const payload = Math.min(begin, at + packetBytes);
	// Readers leave out what is encrypted, or take it for the track's, and say nothing of that.
	if ((window.readUInt8(at + 3) & encryption) !== 0) found.isEncrypted = true;
	if (tables.areIn(number)) tables.take(number, window.subarray(payload, at + packetBytes), isBegin);
	if (number < firstOwnPid) return;
	const known = pids.get(number) ?? { isTable: true, isTrack: true, hasBegun: false };
	pids.set(number, known);
	if (!isBegin || at + packetBytes - payload < 6) return;
	known.hasBegun = true;
	known.isTable &&= isSection(window, payload, at + packetBytes);
	const isOfTrack = isTrackPacket(window, payload);
	known.isTrack &&= isOfTrack;
	found.isEncrypted ||= isOfTrack && isEncrypted(window.subarray(payload, at + packetBytes));
}

/** Whether a packet has data in its head other than that of broadcasters. */
function hasPrivateData(window: Buffer, at: number): boolean {
	const [length, flags] = [window.readUInt8(at + 4), window.readUInt8(at + 5)];
	const isWithout = (window.readUInt8(at + 3) & 0x20) === 0 || length === 0 || (flags & 2) === 0;
	if (isWithout || (window.readUInt8(at + 1) & 0x80) !== 0) return false;
	// Behind clocks, and how many packets come before a cut.
	const from = at + 6 + ((flags & 0x10) === 0 ? 0 : 6) + ((flags & 8) === 0 ? 0 : 6) + ((flags & 4) === 0 ? 0 : 1);
	const end = Math.min(at + 5 + length, at + packetBytes);
	if (from >= end) return false;
	let rest = window.subarray(from + 1, Math.min(end, from + 1 + window.readUInt8(from)));
	while (rest.length >= 2 && knownPrivate.has(rest.readUInt8())) rest = rest.subarray(2 + rest.readUInt8(1));
	return rest.some((byte) => byte !== rest[0]);
}

/** Whether a unit begins with a section of a broadcaster's table, behind the end of another one. */
function isSection(window: Buffer, at: number, end: number): boolean {
	const begin = at + 1 + window.readUInt8(at);
	// Only the end of one.
	if (begin + 2 >= end) return begin <= end;
	return isBroadcasterTable(window.readUInt8(begin)) && (window.readUInt8(begin + 1) & 0x70) === 0x70;
}

/** Whether a unit is a packet of pictures, sound or subtitles. */
const isTrackPacket = (window: Buffer, at: number) =>
	window.readUIntBE(at, 3) === 1 && isTrack(window.readUInt8(at + 3));

/** The tables that say which packets are of which track. */
class Tables {
	/** All numbers that they name, and their own. */
	readonly known = new Set<number>();
	/** Whether one of a program was read. */
	haveProgram = false;
	readonly #own = new Set([0, 1]);
	/** The parts of each table that has not been read to its end. */
	readonly #begun = new Map<number, Buffer>();

	areIn(number: number): boolean {
		return this.#own.has(number);
	}

	take(number: number, payload: Buffer, isBegin: boolean): void {
		const before = this.#begun.get(number);
		if (isBegin && payload.length > 0) {
			const begin = 1 + payload.readUInt8(0);
			if (before !== undefined) this.#read(number, Buffer.concat([before, payload.subarray(1, begin)]));
			this.#read(number, payload.subarray(begin));
		} else if (before !== undefined) this.#read(number, Buffer.concat([before, payload]));
	}

	/** Reads the sections that are whole, and keeps what is left of another one. */
	#read(number: number, bytes: Buffer): void {
		let at = 0;
		while (at + 3 <= bytes.length && bytes[at] !== 0xff) {
			const length = 3 + (bytes.readUInt16BE(at + 1) & 0xfff);
			if (at + length > bytes.length) break;
			this.#takeSection(number, bytes.subarray(at, at + length));
			at += length;
		}
		if (at >= bytes.length || bytes[at] === 0xff) this.#begun.delete(number);
		// A section has at most some 4 kB.
		else this.#begun.set(number, Buffer.from(bytes.subarray(at)));
	}

	#takeSection(number: number, section: Buffer): void {
		const kind = section.readUInt8(0);
		// Before the sum that checks it.
		const end = section.length - 4;
		if (number === 0 && kind === programsTable) this.#takePrograms(section, end);
		else if (number === 1 && kind === conditionsTable) this.#takeDescriptors(section, 8, end);
		else if (number > 1 && kind === programTable) this.#takeProgram(section, end);
	}

	#takePrograms(section: Buffer, end: number): void {
		for (let at = 8; at + 4 <= end; at += 4) {
			const number = section.readUInt16BE(at + 2) & 0x1fff;
			this.known.add(number);
			// The one of number 0 is about the network.
			if (section.readUInt16BE(at) !== 0 && this.#own.size < maxTablePids) this.#own.add(number);
		}
	}

	#takeProgram(section: Buffer, end: number): void {
		if (end < 12) return;
		this.haveProgram = true;
		this.known.add(section.readUInt16BE(8) & 0x1fff);
		const descriptors = 12 + (section.readUInt16BE(10) & 0xfff);
		this.#takeDescriptors(section, 12, Math.min(end, descriptors));
		for (let at = descriptors; at + 5 <= end; ) {
			this.known.add(section.readUInt16BE(at + 1) & 0x1fff);
			const next = at + 5 + (section.readUInt16BE(at + 3) & 0xfff);
			this.#takeDescriptors(section, at + 5, Math.min(end, next));
			at = next;
		}
	}

	#takeDescriptors(section: Buffer, from: number, end: number): void {
		for (let at = from; at + 6 <= end; at += 2 + section.readUInt8(at + 1)) {
			if (section.readUInt8(at) === keyDescriptor) this.known.add(section.readUInt16BE(at + 4) & 0x1fff);
		}
	}
}

/** `transportPackets` of an open file. */
export const transportPacketsIn = (descriptor: number, signal: AbortSignal) =>
	transportPackets(readerOf(descriptor), signal);

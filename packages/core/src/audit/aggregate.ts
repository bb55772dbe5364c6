import { truncateToBytes } from '@stowage/rules';
import { limitAddress, siteKey } from '../http/requests/proxy.js';
import { type AuditEntry, maxLineBytes } from './auditLine.js';

/** An event, or several that became one. */
export interface Aggregate {
	entry: AuditEntry;
	count: number;
	/** When the first and the last of them were, milliseconds since the epoch. */
	first: number;
	last: number;
	/** Whose budget it counts to, if not that of who has caused it. */
	source?: string;
}

/** Bytes of a text in an aggregate. */
const textBytes = 200;

/**
 * Keeps only what both have in common, so that an aggregate never names what is true of one of them only; amounts are
 * added, and of paths the common folder stays.
 */
export function merged(a: Aggregate, b: Aggregate): Aggregate {
	const { bytes: _, entries: __, path: ___, paths: ____, ...own } = a.entry;
	const others = b.entry as unknown as Record<string, unknown>;
	const common = Object.entries(own).filter(([name, value]) => others[name] === value);
	const entry = { action: a.entry.action, outcome: a.entry.outcome, ...Object.fromEntries(common) } as AuditEntry;
	const bytes = (a.entry.bytes ?? 0) + (b.entry.bytes ?? 0);
	const entries = (a.entry.entries ?? 0) + (b.entry.entries ?? 0);
	return {
		entry: {
			...entry,
			...commonNetwork(a.entry, b.entry),
			...commonPlace(a.entry, b.entry),
			...(entries > 0 ? { entries } : {}),
			...(bytes > 0 ? { bytes } : {}),
		},
		count: a.count + b.count,
		first: Math.min(a.first, b.first),
		last: Math.max(a.last, b.last),
		...(a.source !== undefined && a.source === b.source ? { source: a.source } : {}),
	};
}

/** The entry of a line: of several events with their number and times. */
export function entryOf({ entry, count, first, last }: Aggregate): AuditEntry {
	if (count === 1) return entry;
	const [from, to] = [first, last].map((time) => new Date(time).toISOString());
	return { ...entry, requests: count, first: from, last: to };
}

/** A line that is written however much else is: its texts are cut, and the path of several events is a folder above. */
export function shortened({ entry, ...aggregate }: Aggregate): Aggregate {
	const { paths: _, ...rest } = entry;
	const texts = Object.entries(rest).map(([name, value]) => {
		if (typeof value !== 'string' || Buffer.byteLength(value) <= textBytes) return [name, value];
		// Of a single event the folder would be taken for what was changed.
		const isFolder = name === 'path' && aggregate.count > 1;
		return [name, isFolder ? folderWithin(value) : `${truncateToBytes(value, textBytes)}…`];
	});
	return { entry: Object.fromEntries(texts) as AuditEntry, ...aggregate };
}

/** An aggregate that takes little more memory than a line, since thousands of them may wait. */
export function bounded(aggregate: Aggregate): Aggregate {
	return JSON.stringify(aggregate.entry).length > maxLineBytes ? shortened(aggregate) : aggregate;
}

/** The addresses of one customer, which change with each request if they like. */
function commonNetwork({ address: a }: AuditEntry, { address: b }: AuditEntry): Pick<AuditEntry, 'address'> {
	if (a === undefined || b === undefined || a === b) return {};
	const [one, other] = [limitAddress(a), limitAddress(b)];
	if (one === other) return { address: one };
	return siteKey(one) === siteKey(other) ? { address: siteKey(one) } : {};
}

function commonPlace(a: AuditEntry, b: AuditEntry): Pick<AuditEntry, 'path' | 'paths'> {
	if (a.area !== b.area || a.owner !== b.owner) return {};
	if (a.paths !== undefined && JSON.stringify(a.paths) === JSON.stringify(b.paths)) return { paths: a.paths };
	const all = [...pathsOf(a), ...pathsOf(b)];
	if (pathsOf(a).length === 0 || pathsOf(b).length === 0) return {};
	return { path: all.reduce(commonFolder) };
}

function pathsOf({ path, paths = [] }: AuditEntry): readonly string[] {
	return path === undefined ? paths : [path];
}

function commonFolder(a: string, b: string): string {
	if (a === b) return a;
	const [one, other] = [a.split('/'), b.split('/')];
	const differs = one.findIndex((segment, at) => segment !== other[at]);
	return one.slice(0, differs === -1 ? one.length : differs).join('/');
}

function folderWithin(path: string): string {
	if (Buffer.byteLength(path) <= textBytes) return path;
	const start = truncateToBytes(path, textBytes);
	// A name that fits whole is the last one.
	const end = path[start.length] === '/' ? start.length : start.lastIndexOf('/');
	return start.slice(0, Math.max(0, end));
}

import { type Area, escapeJson, isStranger, type Owner, truncateToBytes, type Viewer } from '@stowage/rules';
import type { Context } from '../context.js';

/** Sign-ins, accounts, and what the administrator orders. */
export const securityActions = [
	'signUp',
	'signIn',
	'signInFailed',
	'signOut',
	'endSessions',
	'password',
	'enableTotp',
	'disableTotp',
	'recoveryCode',
	'createUser',
	'renameUser',
	'disableUser',
	'enableUser',
	'removeUser',
	'setQuota',
	'assignHome',
	'moveHome',
	'addRoot',
	'relocateRoot',
	'setDefaultRoot',
	'renameRoot',
	'removeRoot',
	'cancelJob',
	'retryJob',
	'releaseJobs',
	'removeUpload',
	'purgeLinks',
	'relinkLinks',
	'recoverTrash',
	'backup',
	'restore',
	'migrate',
	'copyDatabase',
	'configure',
	'lost',
] as const;

/** Changes of a user's own things. */
export const changeActions = [
	'settings',
	'upload',
	'createFile',
	'createFolder',
	'rename',
	'move',
	'copy',
	'delete',
	'restoreItem',
	'purgeTrash',
	'restoreVersion',
	'purgeVersions',
	'convert',
	'createLink',
	'revokeLink',
	'createShare',
	'changeShare',
	'deleteShare',
	'setMembers',
	'leaveFolder',
	'jobEnd',
] as const;

/** Reading that is recorded also when only changes are. */
export const sharedReadActions = ['followLink', 'followShare', 'openShare', 'openInViewer'] as const;

/** The other events of reading. */
export const readActions = ['preview', 'download', 'downloadArchive'] as const;

export const auditActions = [...securityActions, ...changeActions, ...sharedReadActions, ...readActions] as const;

export type AuditAction = (typeof auditActions)[number];

/** One action or attempt. */
export interface AuditEvent {
	action: AuditAction;
	/** Who, where that is not who the request or the job belongs to. */
	viewer?: Viewer;
	/** The administrator has ordered it, whomever the job belongs to. */
	actor?: 'administrator';
	/** Set for what nobody has requested: it follows from the request or the job under way, whoever that belongs to. */
	isConsequence?: true;
	area?: Area;
	/** The owner of the tree or home. */
	owner?: Owner;
	path?: string;
	/** The new path, relative to its area. */
	to?: string;
	/** The area of that path, if it is another one. */
	toArea?: Area;
	/** The owner of that tree or home, if it is another one. */
	toOwner?: string;
	/** Whether it has replaced a file. */
	replaced?: true;
	/** The selected items, if there are several. */
	paths?: readonly string[];
	/** The id of a temporary link, which opens nothing. */
	link?: string;
	/** The id of a share, which opens nothing. */
	share?: string;
	/** The id of an item in the trash, or of a version. */
	trash?: string;
	/** The account that was changed, and its id. */
	account?: string;
	accountId?: string;
	/** The kind or the title of a job. */
	kind?: string;
	title?: string;
	/** The id of a job, where that is not the one that is under way. */
	job?: string;
	/** The storage root that was changed. */
	root?: string;
	/** What was ordered, such as a quota, or why the server did it. */
	detail?: string;
	entries?: number;
	bytes?: number;
}

export interface AuditOutcome {
	outcome: 'ok' | 'refused' | 'failed' | 'cancelled';
	/** The kind of the refusal. */
	reason?: string;
}

/** How a line names items: one by its place, several by some of their paths; `placeOf` says where one is, unless it says that itself. */
export function chosen<Item extends { path: string; owner?: Owner }>(
	items: readonly Item[],
	placeOf: (item: Item) => { path: string; owner?: Owner } = (item) => item,
): Partial<AuditEvent> {
	const [only] = items;
	if (only === undefined) return {};
	if (items.length === 1) return { ...placeOf(only) };
	return { paths: items.slice(0, maxPaths).map((item) => placeOf(item).path), entries: items.length };
}

/** A line as readers get it. */
export interface AuditRecord extends Omit<AuditEvent, 'viewer' | 'isConsequence'>, AuditOutcome {
	/** When the line was written: ISO 8601, in UTC. */
	time: string;
	/** Null is a visitor; left out for actions of the server itself and of the administrator. */
	user?: string | null;
	userId?: string;
	address?: string;
	request?: string;
	job?: string;
	/** Whose order it was, if it was not a user's. */
	actor?: 'administrator';
	/** The system's name for the user of the command line, and the number of the user that the command ran as. */
	systemUser?: string;
	uid?: number;
	/** The node that wrote it, where there may be several. */
	node?: string;
	/** How many events the line is for, and when the first and the last of them were: only in a line for several. */
	requests?: number;
	first?: string;
	last?: string;
}

/** A record that has no time yet. */
export type AuditEntry = Omit<AuditRecord, 'time'>;

/** Shorter lines are written by one call, so they are contiguous in the file whichever process writes as well. */
export const maxLineBytes = 4000;

/** How much of each text stays, tried until the line is short enough. */
const cuts = [700, 250, 60];

const maxPaths = 5;

/**
 * What a line says about an event, but its time. Those on whose behalf the administrator acts are named as the account that is changed.
 */
export function auditEntry(event: AuditEvent, outcome: AuditOutcome, origin: Partial<AuditEntry>): AuditEntry {
	const { action, viewer, paths, isConsequence, ...details } = event;
	const { user, userId, ...place } = isConsequence ? causeOf(origin) : origin;
	const isOrder = (event.actor ?? place.actor) === 'administrator';
	const who =
		viewer === undefined
			? { ...(user === undefined ? {} : { user }), ...(userId === undefined ? {} : { userId }) }
			: viewerFields(viewer);
	return {
		action,
		...outcome,
		...place,
		...(isOrder ? orderedFor(who) : who),
		...(viewer?.kind === 'user' && viewer.receives !== undefined
			? { share: viewer.receives.share, owner: viewer.username }
			: {}),
		...details,
		...(paths === undefined ? {} : { paths: paths.slice(0, maxPaths) }),
	};
}

/** The account for whom the administrator acts. */
function orderedFor({ user, userId }: Pick<AuditEntry, 'user' | 'userId'>): Partial<AuditEvent> {
	if (typeof user !== 'string') return {};
	return userId === undefined ? { account: user } : accountFields({ id: userId, username: user });
}

/** The account that an event changes. */
export function accountFields({ id, username }: { id: string; username: string }): Partial<AuditEvent> {
	return { account: username, accountId: id };
}

/**
 * The account that an order names, by the name that it has, however that was typed. The name is taken as it was typed where there is none,
 * or it can't be looked up: then the order itself fails, and its line says why.
 */
export async function namedAccountFields(
	find: (username: string) => Promise<{ id: string; username: string }>,
	typed: string,
): Promise<Partial<AuditEvent>> {
	return find(typed).then(accountFields, () => ({ account: typed }));
}

/** The request or the job that has led to it, by which the line is found that says who that was. */
function causeOf({ request, job }: Partial<AuditEntry>): Partial<AuditEntry> {
	return { ...(request === undefined ? {} : { request }), ...(job === undefined ? {} : { job }) };
}

/**
 * The line of an entry, with its line feed. Controls, and characters that a terminal obeys, are escaped: no name can begin a line, or
 * show another one.
 */
export function auditLine(time: number, entry: AuditEntry): string {
	const record: AuditRecord = { time: new Date(time).toISOString(), ...entry };
	const whole = lineOf(record);
	if (Buffer.byteLength(whole) <= maxLineBytes) return whole;
	for (const cut of cuts) {
		const line = lineOf(record, cut);
		if (Buffer.byteLength(line) <= maxLineBytes) return line;
	}
	const { time: at, action, outcome, reason, user, node } = record;
	return lineOf({ time: at, action, outcome, reason, user, node });
}

/** The line of a record, with at most `cut` bytes of each text. */
function lineOf(record: object, cut = Number.POSITIVE_INFINITY): string {
	const json = JSON.stringify(record, (_key, value) => (typeof value === 'string' ? shortened(value, cut) : value));
	return `${escapeJson(json)}\n`;
}

function shortened(text: string, bytes: number): string {
	return Buffer.byteLength(text) <= bytes ? text : `${truncateToBytes(text, bytes)}…`;
}

function viewerFields(viewer: Viewer): { user?: string | null; userId?: string } {
	return viewer.kind === 'user' && !isStranger(viewer) ? { user: viewer.username, userId: viewer.id } : { user: null };
}

/** Who and what causes an event: a request, a job, or else the process itself. */
export function originOf({ request, job }: Context = {}): Partial<AuditEntry> {
	if (job !== undefined) return { ...viewerFields(job.owner), job: job.id };
	if (request === undefined) return {};
	return { ...viewerFields(request.caller.viewer), address: request.caller.client.address, request: request.id };
}

/** The day, in UTC, whose file contains the lines of this time. */
export function dayOf(time: number): string {
	return new Date(time).toISOString().slice(0, 10);
}

/**
 * Parses a line as far as it can be read: of two lines in one, since the first was torn, the second. Undefined for anything else, also
 * for one whose parts are of other kinds than Stowage's: whoever may write to the folder writes such lines.
 */
export function parseAuditLine(line: string): AuditRecord | undefined {
	// Within a text of JSON the quotes would be escaped.
	const start = line.lastIndexOf('{"time":"');
	if (start === -1) return undefined;
	try {
		const record: unknown = JSON.parse(line.slice(start));
		return isAuditRecord(record) ? record : undefined;
	} catch {
		// A torn line: nothing of it can be read.
		return undefined;
	}
}

function isAuditRecord(value: unknown): value is AuditRecord {
	if (typeof value !== 'object' || value === null) return false;
	const { time, action, outcome, first = time, last = time } = value as Record<string, unknown>;
	if ([action, outcome].some((text) => typeof text !== 'string')) return false;
	if ([time, first, last].some((text) => typeof text !== 'string' || Number.isNaN(Date.parse(text)))) return false;
	return Object.entries(kinds).every(([name, kind]) => {
		const part = (value as Record<string, unknown>)[name];
		return part === undefined || isOfKind(part, kind);
	});
}

type Kind = 'string' | 'number' | 'boolean' | 'null or string' | 'strings';

/** The types of the fields of a line. Fields that a newer Stowage has added are ignored. */
const kinds: Readonly<Record<keyof AuditRecord, Kind>> = {
	...{ time: 'string', action: 'string', outcome: 'string', reason: 'string', first: 'string', last: 'string' },
	...{ user: 'null or string', userId: 'string', address: 'string', request: 'string', job: 'string', actor: 'string' },
	...{
		systemUser: 'string',
		uid: 'number',
		node: 'string',
		account: 'string',
		accountId: 'string',
		kind: 'string',
		title: 'string',
	},
	...{ area: 'string', owner: 'null or string', path: 'string', to: 'string', toArea: 'string', toOwner: 'string' },
	...{ replaced: 'boolean', paths: 'strings', link: 'string', share: 'string', trash: 'string', root: 'string' },
	...{ detail: 'string', entries: 'number', bytes: 'number', requests: 'number' },
};

function isOfKind(part: unknown, kind: Kind): boolean {
	if (kind === 'strings') return Array.isArray(part) && part.every((each) => typeof each === 'string');
	if (kind === 'null or string') return part === null || typeof part === 'string';
	return typeof part === kind;
}

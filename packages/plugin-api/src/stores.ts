import type { Area, StoragePath, UserSettings } from '@stowage/rules';
import type { Job, JobKind, JobStatus } from './jobs.js';

/** An account. `username` is as it was registered; it is unique and found without regard to case. */
export interface UserRecord {
	id: string;
	username: string;
	/** What their password is proved with. */
	secret: string;
	isDisabled: boolean;
	createdAt: number;
	/** Raised by whatever ends the user's sessions: one that began in another generation is none. */
	generation: number;
}

/** How much a user may keep: 0 is no limit, null what the configuration says. */
export interface UserQuota {
	bytes: number | null;
	/** Files and folders. */
	entries: number | null;
}

export interface UserStore {
	/** Throws `alreadyExists` for a name that differs from a known one only in case, also when two ask at once. */
	add(user: { username: string; secret: string }): Promise<UserRecord>;
	find(username: string): Promise<UserRecord | undefined>;
	get(id: string): Promise<UserRecord | undefined>;
	/** Sorted by name. */
	list(): Promise<UserRecord[]>;
	/**
	 * Sets a new secret and ends all sessions of the user, both or neither; resolves to the generation in which they may begin others. Given the generation that the
	 * caller has seen, throws `conflict` if it is another by now.
	 */
	setSecret(id: string, secret: string, seen?: number): Promise<number>;
	/** Sets the same password under new parameters; sessions go on. Throws `conflict` if the secret is no longer the one that the caller has seen. */
	renewSecret(id: string, secret: string, seen: string): Promise<void>;
	/** Disabling ends all sessions of the user and asks for the end of their jobs, all or nothing. */
	setDisabled(id: string, isDisabled: boolean): Promise<void>;
	/** Gives the account another name, disables it or not, ends all its sessions and asks for the end of its jobs: all of it or nothing. Throws `alreadyExists` as `add` does. */
	rename(id: string, username: string, isDisabled: boolean): Promise<void>;
	/** Removes the account with its sessions and settings, and asks for the end of its jobs; its files stay. */
	remove(id: string): Promise<void>;
	/** What was said for this user; nothing was for one who is not there. */
	quota(id: string): Promise<UserQuota>;
	setQuota(id: string, quota: UserQuota): Promise<void>;
	/** Whole settings, defaults filled in. */
	settings(id: string): Promise<UserSettings>;
	/** Changes what is named, leaves the rest; resolves to the whole. */
	changeSettings(id: string, change: Partial<UserSettings>): Promise<UserSettings>;
}

/** Whoever is signed in: nothing that they proved it with. */
export type SessionUser = Omit<UserRecord, 'secret'>;

export interface SessionRecord {
	userId: string;
	createdAt: number;
	lastSeenAt: number;
}

/** What a session was begun with. */
export interface SessionClient {
	userAgent: string | null;
	address: string | null;
}

export interface ListedSession extends SessionRecord, SessionClient {
	idHash: string;
}

/** Sessions by the hash of their id: the id itself is never stored. */
export interface SessionStore {
	/**
	 * For the user as they were when they proved to be who they are: throws `conflict` if their generation is another by now, or they were disabled. A user has at
	 * most 100 sessions: one more ends the one that was unused for longest.
	 */
	add(idHash: string, user: Pick<UserRecord, 'id' | 'generation'>, client?: SessionClient): Promise<void>;
	/** The session with its user in one look-up; nothing for an unknown or ended one, one of another generation, or a disabled user's. */
	find(idHash: string, now: number): Promise<{ session: SessionRecord; user: SessionUser } | undefined>;
	/** Those of these sessions that `find` would find, in one look-up for some hundred of them. */
	findAlive(idHashes: readonly string[], now: number): Promise<Set<string>>;
	/** Those of a user that go on, the one used last first. */
	list(userId: string, now: number): Promise<ListedSession[]>;
	touch(idHash: string, now: number): Promise<void>;
	remove(idHash: string): Promise<void>;
	/** Ends all sessions of a user but one, where one is named that goes on, and those that begin meanwhile, all or nothing. Resolves to how many. */
	removeOf(userId: string, except?: string): Promise<number>;
	/** Forgets what is past its time. Resolves to how many. */
	sweep(now: number): Promise<number>;
}

/** A storage root that belongs to this database. */
export interface RootRecord {
	/** What the administrator calls it. */
	name: string;
	/** What the root itself carries. */
	rootId: string;
	/** Which storage opens it. */
	driver: string;
	/** Where it lies, in words of its storage; null for the place that is configured. */
	location: string | null;
	/** Whether it was made the default one. */
	isDefault: boolean;
	createdAt: number;
}

export interface RootStore {
	/** The oldest first. */
	list(): Promise<RootRecord[]>;
	/** Throws `alreadyExists` for a taken name. */
	add(root: Pick<RootRecord, 'name' | 'rootId' | 'driver' | 'location'>): Promise<void>;
	/** Throws `notFound`, and `alreadyExists` for a taken name. */
	rename(name: string, newName: string): Promise<void>;
	/** Notes that the root of this id lies elsewhere. Throws `notFound`, also for one that lies in the place that is configured. */
	relocate(rootId: string, location: string): Promise<void>;
	/** Makes it the only default one. Throws `notFound`. */
	setDefault(name: string): Promise<void>;
	/** Throws `notFound`, and `conflict` as long as homes are known to lie there. */
	remove(name: string): Promise<void>;
}

/** On which storage root a home lies, by its name; homes of which nothing is known lie on the first one. */
export interface HomeStore {
	find(name: string): Promise<string | undefined>;
	/** Notes where a home shall lie unless that is known, also when two ask at once. Resolves to where it does. */
	place(name: string, rootId: string): Promise<string>;
	set(name: string, rootId: string): Promise<void>;
	/** Names of the homes that are known to lie on a root, sorted. */
	list(rootId: string): Promise<string[]>;
	/** Where a home lies, and its move if it is on its way to another root. */
	look(name: string): Promise<{ rootId: string | undefined; move: HomeMove | undefined }>;
	/** All that are on their way, by jobs that have not ended. */
	moves(): Promise<HomeMove[]>;
	/** Notes that this run of a job moves a home, thawed: earlier runs of the job can change nothing from now on. Throws `conflict` while another job moves it. */
	beginMove(move: Omit<HomeMove, 'isFrozen'>): Promise<void>;
	/** From now on nobody may change the home, or everybody again. False where the run is no longer the one that moves it. */
	freeze(runId: string, isFrozen: boolean): Promise<boolean>;
	/**
	 * Notes in one transaction that a frozen home lies elsewhere from now on, thaws it, and binds links to the items that theirs have become. False, and nothing has changed, where
	 * the run is no longer the one that moves it.
	 */
	switchRoot(runId: string, rootId: string, links: readonly ReboundLink[]): Promise<boolean>;
	/** Forgets a move; nothing happens to that of another run. */
	endMove(runId: string): Promise<void>;
	/** A process knows of the run's move, and has ended all changes of the home or not. */
	acknowledge(runId: string, holder: string, hasStopped: boolean): Promise<void>;
	/** Which processes do. `isSilent` of those that have not said so for longer. */
	acknowledgements(
		runId: string,
		silentMs: number,
	): Promise<{ holder: string; hasStopped: boolean; isSilent: boolean }[]>;
}

/** A home on its way to another root. */
export interface HomeMove {
	name: string;
	jobId: string;
	/** One run of the job. */
	runId: string;
	/** Whether nobody may change the home right now. */
	isFrozen: boolean;
}

/** A link whose item is another one after a move. It is left alone unless it has the id that was seen. */
export interface ReboundLink {
	id: string;
	seenItemId: string;
	itemId: string;
}

/** Counts tries in a window, shared by all processes and kept through restarts. */
export interface LimitStore {
	/** Counts one more, or so many, and resolves to the count in the running window, which begins with the first try and lasts `windowMs`. */
	hit(key: string, windowMs: number, now: number, amount?: number): Promise<{ count: number; endsAt: number }>;
	/** Counts one more under each of several keys, in one commit. Resolves to the counts in the order of the keys, which must differ. */
	hitEach(
		tries: readonly { key: string; windowMs: number }[],
		now: number,
	): Promise<{ count: number; endsAt: number }[]>;
	/** Takes one try, or so much, back in the running window. */
	release(key: string, amount?: number): Promise<void>;
	/** Takes one try back under each of several keys, in one commit. */
	releaseEach(keys: readonly string[]): Promise<void>;
}

/** The same for amounts, several of which are counted at once. */
export interface AmountStore extends LimitStore {
	/** Counts all of these as `hit` does each, or none. Resolves to one that would have come to more than `most`, if there is one. */
	hitAll(
		amounts: readonly { key: string; amount: number; most: number }[],
		windowMs: number,
		now: number,
	): Promise<{ key: string; endsAt: number } | undefined>;
	/** The running windows of those keys that have one. */
	find(keys: readonly string[], now: number): Promise<Map<string, { count: number; endsAt: number }>>;
}

/** A temporary link to an item of its owner's private area. */
export interface LinkRecord {
	id: string;
	owner: { id: string; username: string };
	/** Relative to the owner's home. */
	path: StoragePath;
	/** Where a move that has not been settled yet was to take the item. */
	nextPath: StoragePath | undefined;
	/** The storage's id of the item: another thing under the same name is not what the link leads to. */
	itemId: string;
	createdAt: number;
	expiresAt: number;
	/** It was found to be past its time; it stays so, whatever the clock says later. */
	isEnded: boolean;
	downloads: number;
}

/** Temporary links by the hash of their token: the token itself is never stored. */
export interface LinkStore {
	add(link: {
		tokenHash: string;
		ownerId: string;
		path: StoragePath;
		itemId: string;
		expiresAt: number;
	}): Promise<LinkRecord>;
	/** Nothing for an unknown one and for one whose owner is disabled. */
	find(tokenHash: string): Promise<LinkRecord | undefined>;
	/** Of one owner or of all, the newest first. */
	list(ownerId?: string): Promise<LinkRecord[]>;
	/** Notes, all or none, where items are and are about to go. */
	plan(moves: ReadonlyMap<string, { path: StoragePath; nextPath: StoragePath }>): Promise<void>;
	/** Notes, all or none, where items are now; nothing is planned for them any more. */
	settle(places: ReadonlyMap<string, StoragePath>): Promise<void>;
	/** Settles a plan that was found to be done, unless another has been made since. */
	adopt(id: string, nextPath: StoragePath): Promise<void>;
	countDownload(id: string): Promise<void>;
	/** Binds it to another item, unless it was bound or moved since; resolves to whether it was. */
	rebind(id: string, seenItemId: string, itemId: string): Promise<boolean>;
	/** Marks it as past its time. */
	end(id: string): Promise<void>;
	/** Removes those that there are, only one owner's where one is named; resolves to how many. */
	remove(ids: readonly string[], ownerId?: string): Promise<number>;
	/** Removes those that expired before the time; resolves to how many. */
	sweep(expiredBefore: number): Promise<number>;
}

/** Small values of one part of the server, such as a plugin, shared by all processes and kept through restarts. Values are what JSON can hold. */
export interface KeyValueStore {
	/** Undefined for what was never set, was removed or has passed its time. Whoever reads it parses it. */
	get(key: string): Promise<unknown>;
	/** Those that there are, by their keys. */
	getMany(keys: readonly string[]): Promise<Map<string, unknown>>;
	/** Replaces what was there. It is kept for `lifeMs`. */
	set(key: string, value: unknown, lifeMs: number): Promise<void>;
	setMany(values: ReadonlyMap<string, unknown>, lifeMs: number): Promise<void>;
	/** Whether there was such a row, so that of two who take it one gets it. */
	remove(key: string): Promise<boolean>;
}

/** A download ticket. Its texts are the core's; times are milliseconds since the epoch. */
export interface TicketRecord {
	/** Whom its bytes are counted for. */
	holder: string;
	/** What is told about it, and what it is of. */
	facts: string;
	selection: string;
	/** What it counts for; 0 once it is emptied. */
	bytes: number;
	isEnded: boolean;
	/** It is good until then, and known until it expires. */
	endsAt: number;
	expiresAt: number;
}

/** Tickets by the hash of their token: the token itself is never stored. */
export interface TicketStore {
	add(tokenHash: string, ticket: TicketRecord): Promise<void>;
	/** Also one that has ended, as long as it is known. */
	find(tokenHash: string): Promise<TicketRecord | undefined>;
	/** Whether it was ended before its time. */
	isEnded(tokenHash: string): Promise<boolean>;
	/** Replaces the facts of one that has not been ended. */
	change(tokenHash: string, facts: string): Promise<void>;
	/** Empties it. That it was there is known until it expires. */
	end(tokenHash: string): Promise<void>;
	/** Bytes that the tickets of one holder, or of all, count for. */
	bytes(holder?: string): Promise<number>;
	/** Empties those past their time, and forgets the expired ones; resolves to how many. */
	sweep(): Promise<number>;
}

/** An upload that goes on over several requests. Times are milliseconds since the epoch. */
export interface UploadRecord {
	/** The staged file; null once it was published or dropped. */
	stagedId: string | null;
	/** Whose it is; null for a visitor's, which belongs to whoever has its id. */
	userId: string | null;
	/** What limits count by. */
	address: string;
	area: Area;
	directory: StoragePath;
	/** The wished name. */
	name: string;
	/** The modified time that the file shall get. */
	mtime: number | null;
	/** What the client said of it, word for word. */
	metadata: string;
	/** Bytes of the whole file. */
	length: number;
	/** Bytes that survive a power cut. */
	offset: number;
	/** Where the file is, once it is in its place. */
	entryPath: string | null;
	touchedAt: number;
	expiresAt: number;
}

/** Uploads by the hash of their id: the id itself is never stored. */
export interface UploadStore {
	/**
	 * Throws `alreadyExists` for a known id, also when two ask at once. A visitor's with a number `mostOfAddress` is refused (`rateLimited`) if visitors of its address have that many that
	 * are not finished, also when many begin at once in several processes.
	 */
	add(idHash: string, upload: UploadRecord, mostOfAddress?: number): Promise<void>;
	find(idHash: string): Promise<UploadRecord | undefined>;
	/** The uploads of a user that are not finished, the one that got bytes last first. */
	unfinishedOf(userId: string): Promise<UploadRecord[]>;
	/** Notes how many bytes are durable. Resolves to whether it still has this staged file; if not, nothing has changed: somebody else went on with another one, or has ended it. */
	advance(
		idHash: string,
		stagedId: string,
		progress: Pick<UploadRecord, 'offset' | 'touchedAt' | 'expiresAt'>,
	): Promise<boolean>;
	/** Notes that the file is in its place, whole. Resolves as `advance` does. */
	finish(idHash: string, stagedId: string, entryPath: string): Promise<boolean>;
	/** Goes on with another staged file. Resolves as `advance` does. */
	restage(idHash: string, stagedId: string, otherStagedId: string): Promise<boolean>;
	remove(idHash: string): Promise<void>;
	/** How many uploads visitors of an address have begun and not finished. */
	countOfVisitors(address: string, now: number): Promise<number>;
	/** What the unfinished uploads of a user, or of visitors, have brought to the disk and how many they are, but for those with one of these staged files. */
	held(userId: string | null, except: readonly string[]): Promise<{ bytes: number; entries: number }>;
	/** Uploads past their time whose staged file is still there, the oldest first. */
	expired(now: number, most: number): Promise<{ idHash: string; stagedId: string }[]>;
	/** Lets an upload expire no sooner than that. */
	prolong(idHash: string, expiresAt: number): Promise<void>;
	/** Notes that the staged file is gone. The upload is still known as one that has expired. */
	drop(idHash: string): Promise<void>;
	/** Whether an upload has this staged file. */
	isStaged(stagedId: string): Promise<boolean>;
	/** Forgets all that expired by then. Resolves to how many. */
	forget(before: number): Promise<number>;
}

/** Which staged files the tries with one idempotency key publish. */
export interface IdempotencyRecord {
	/** In the order of the request; empty for one that was taken back. */
	stagedIds: readonly string[];
	/** Another one, as long as a UUID, for each time that the record is written. */
	revision: string;
}

/** Idempotency keys by their hash: of several tries with one key, in any process, one decides what is published. */
export interface IdempotencyStore {
	/** Notes the record unless there is one; resolves to the one that there is then. */
	claim(keyHash: string, record: IdempotencyRecord): Promise<IdempotencyRecord>;
	/** Replaces the record that the caller has seen; resolves to whether it was still that one. */
	replace(keyHash: string, seenRevision: string, record: IdempotencyRecord): Promise<boolean>;
	/** Forgets those written before the time; resolves to how many. */
	sweep(writtenBefore: number): Promise<number>;
}

/** Names under which staged files are about to be published that could not get the one they wished. */
export interface PublishedNameStore {
	/** Replaces what was noted. */
	note(stagedId: string, name: string): Promise<void>;
	find(stagedId: string): Promise<string | undefined>;
	/** Forgets those noted before the time; resolves to how many. */
	sweep(notedBefore: number): Promise<number>;
}

/** A job as its row tells it, without what only its run needs. Times are milliseconds since the epoch. */
export interface JobRecord extends Omit<Job, 'canRetry' | 'detail'> {
	readonly userId: string;
	/** JSON. */
	readonly detail: string | null;
	/** Whether there is still what it was started with. */
	readonly hasInput: boolean;
}

/** Names one run of a job. What a run writes is written only as long as the job is still this run's. */
export interface JobRunKey {
	readonly id: string;
	/** The process. */
	readonly holder: string;
	/** Another one for each run. */
	readonly epoch: number;
}

/** A job that some process runs, or ran when it ended. */
export interface HeldJob extends JobRunKey {
	readonly kind: string;
	readonly userId: string;
	/** Of two jobs that run, no two are in the same. */
	readonly slot: string;
	readonly onRestart: JobKind<unknown>['onRestart'];
	readonly isCancelRequested: boolean;
	/** Nobody has renewed its lease in time: whoever held it may no longer be there. */
	readonly isExpired: boolean;
	/** How often its run was cut off since it last came further. */
	readonly interruptions: number;
}

export interface NewJob {
	id: string;
	kind: string;
	userId: string;
	title: string;
	/** JSON. */
	input: string;
	onRestart: JobKind<unknown>['onRestart'];
}

/** What one user may have. */
export interface JobBounds {
	/** Of this kind, waiting and running. */
	jobs: number;
	/** Bytes of inputs and of what was saved, of all kinds. */
	bytes: number;
}

export interface JobEnd {
	status: Extract<JobStatus, 'completed' | 'failed' | 'cancelled'>;
	error: string | null;
	/** JSON; left out, the last one stays. */
	detail?: string | null;
}

export type JobProgressRecord = Pick<JobRecord, 'done' | 'total' | 'unit' | 'speed' | 'timeLeft' | 'detail'>;

/**
 * Jobs, shared by all processes. Leases are measured by the clock of the database; of an SQLite file, whose processes share a machine, by that machine's. What is
 * written for a run resolves to whether the job was still its own; if not, nothing has changed.
 */
export interface JobStore {
	/**
	 * Queues a job behind those of the user's that wait, and so that users take turns (round robin). Throws `rateLimited` if the user has too many of the kind or keeps
	 * too much, `notFound` for a user who is gone or disabled, and `alreadyExists` for a known id.
	 */
	add(job: NewJob, most: JobBounds): Promise<void>;
	/** Queues one that failed or was cancelled again; false if it is another. What it saved stays if its kind resumes. Throws as `add` does. */
	retry(id: string, most: JobBounds): Promise<boolean>;
	find(id: string): Promise<JobRecord | undefined>;
	/** What it was started with, as long as that is kept. */
	input(id: string): Promise<string | undefined>;
	/** Whether what one that has not ended saved holds this text, which has only letters, digits and `-`: so that nobody drops what a job goes on with. */
	isSaved(text: string): Promise<boolean>;
	/** Those that have not ended and the latest `mostEnded` that have, of one user or of all, the newest first. */
	list(mostEnded: number, userId?: string): Promise<JobRecord[]>;
	/** How many there are of each kind and status. */
	counts(): Promise<{ kind: string; status: JobRecord['status']; count: number }[]>;
	/** All that are held. A lease that ends later than `leaseMs` from now, and a minute, was given while the clock was wrong: it has expired too. */
	held(leaseMs: number): Promise<HeldJob[]>;
	/** The next job of the kind that waits and belongs to none of these users, first those that wait only to drop what they had made. */
	next(
		kind: string,
		except?: readonly string[],
	): Promise<{ id: string; userId: string; epoch: number; isCancelRequested: boolean } | undefined>;
	/**
	 * Takes a job that waits, of which `epoch` was seen. Nothing if somebody was first, or the slot is taken: then nothing has changed.
	 */
	claim(
		run: JobRunKey,
		slot: string,
		leaseMs: number,
	): Promise<{ input: string; saved: string | null; attempt: number; record: JobRecord } | undefined>;
	/** Renews the lease, and tells how far it is. */
	renew(run: JobRunKey, leaseMs: number, progress?: JobProgressRecord): Promise<boolean>;
	/** Saves from where a further run goes on, and renews the lease. */
	checkpoint(run: JobRunKey, leaseMs: number, saved: string): Promise<boolean>;
	/** Frees its slot. Of one that completed what was saved is dropped. */
	end(run: JobRunKey, end: JobEnd, when?: JobTakeover): Promise<boolean>;
	/** Back to where it waited, with what it saved if its kind resumes. Of one whose end is asked for this is as if it were cancelled there. */
	requeue(run: JobRunKey, when?: JobTakeover): Promise<boolean>;
	/**
	 * Cancels one that waits, and asks for the end of one that runs; of another nothing changes. One that waits and has saved something begins once more, to drop
	 * what it had made, unless it is cancelled again.
	 */
	cancel(id: string): Promise<void>;
	/** Those in which anything has changed in so many milliseconds, the latest 1,000 at most. */
	changed(sinceMs: number): Promise<JobRecord[]>;
	/** Forgets those that ended before the time, and of each user those beyond the latest that ended; resolves to how many. */
	sweep(endedBefore: number, mostEnded: number): Promise<number>;
}

/** Says that somebody else than its holder writes for a run, and that the lease has to have expired. */
export interface JobTakeover {
	leaseMs: number;
}

/** What a process publishes for the pages that are connected to others. */
export interface EventRecord {
	process: string;
	/** Grows with each event of its process. */
	number: number;
	payload: string;
}

/** Events across processes, and who listens. Rows are added and never changed; ages are measured by the clock of the database. */
export interface EventStore {
	/** Adds events of a process, of which none was added before. They are seen together, and before all that it adds later. */
	add(process: string, events: readonly Pick<EventRecord, 'number' | 'payload'>[]): Promise<void>;
	/** Those of the last milliseconds, of all processes but one; those of each process in their order. */
	latest(ms: number, except: string): Promise<EventRecord[]>;
	/** Notes that a process listens, or goes on with it. */
	listen(process: string, pollsFolders: boolean): Promise<void>;
	unlisten(process: string): Promise<void>;
	/** Processes but one that said so in the last milliseconds; `pollsFolders` if they follow folders whose storage tells them of no changes. */
	listeners(ms: number, except: string): Promise<{ process: string; pollsFolders: boolean }[]>;
	/** Removes what is older than so many milliseconds. Resolves to how many. */
	sweep(ms: number): Promise<number>;
}

import type {
	AuthProvider,
	KeyValueStore,
	LimitStore,
	UserOverview,
	UserQuota,
	UserRecord,
	UserStore,
} from '@stowage/plugin-api';
import { anonymousOwner, Failure, isFailure, isValidUsername, passwordLength } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import { shareOf } from '../config/workers.js';
import { accountKey, isVisitorKey, limitAddress, networkKey, siteOf } from '../http/requests/proxy.js';
import type { Leases } from '../leases/createLeases.js';
import { FairQueue } from '../limits/FairQueue.js';
import { inTime } from '../limits/inTime.js';
import { rateLimited } from '../limits/rateLimited.js';
import { makeHome } from '../trees/storage/folders.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import type { TrashBin } from '../trees/trash/TrashBin.js';
import { aloneWithUsers } from './aloneWithUsers.js';
import { limitAttempts } from './loginLimits.js';
import { type FilesAction, removeUser } from './removeUser.js';
import { assertNotHalfRenamed, renameUser } from './renameUser.js';
import { type NewHome, rootOfNewHome } from './rootOfNewHome.js';
import { type Accepted, type SecondFactors, wrongCode } from './secondFactors.js';
import type { SessionOwner } from './sessions.js';

/** A user whose password was right, and what they have shown of a second factor. */
export interface SignedIn {
	user: UserRecord;
	accepted: Accepted;
}

export interface Accounts {
	/**
	 * Throws `badCredentials` in the same words and time for an unknown name and a wrong password, and `rateLimited`. After the right
	 * password of a user with a second factor, throws `secondFactor` for a missing and for a wrong code.
	 */
	signIn(username: string, password: string, client: SignInClient, code?: string): Promise<SignedIn>;
	/** Makes an account for a visitor; throws as `create` does, and `rateLimited`. */
	signUp(username: string, password: string, client: Caller): Promise<UserRecord>;
	/**
	 * Throws `invalid` for a name or password that is not allowed and `alreadyExists` for a taken name, also where a home of that name lies
	 * on any root without a user, unless it is to be adopted; `unavailable` while the root that the home shall lie on is away. `root` is
	 * the name of that one.
	 */
	create(username: string, password: string, options?: NewHome): Promise<UserRecord>;
	/** Sets a new password and ends all sessions of the user, both or neither. */
	setPassword(username: string, password: string): Promise<void>;
	/**
	 * Sets a new password for a user who confirms the current one, and ends all of their sessions. Resolves to the
	 * current user. Throws as `signIn` does, and `conflict` if the user's generation has changed: their sessions were ended meanwhile.
	 */
	changePassword(user: SignedInUser, current: string, password: string, client: SignInClient): Promise<UserRecord>;
	/** Confirms the password of a user who is signed in. Throws `badCredentials` for a wrong one, and `rateLimited`. */
	confirmPassword(user: SessionOwner, password: string, client: SignInClient): Promise<void>;
	/**
	 * Renames an account and its home, and ends its sessions. An interrupted call continues when it is made again. Throws `alreadyExists`
	 * as `create` does.
	 */
	rename(username: string, newName: string): Promise<void>;
	/** Resolves to whether that changed anything. */
	setDisabled(username: string, isDisabled: boolean): Promise<boolean>;
	/** Removes the files, then the account. Resolves to the name of the folder that the files were moved to, if they were. */
	remove(username: string, filesAction: FilesAction): Promise<string | undefined>;
	/** Throws `notFound`. */
	find(username: string): Promise<UserRecord>;
	list(): Promise<UserRecord[]>;
	/** All users with their overviews, in the order of `list`. */
	overview(): Promise<UserOverview[]>;
	/** The result for this user. */
	quota(username: string): Promise<{ user: UserRecord; quota: UserQuota }>;
	/** Resolves to whether that changed anything. */
	setQuota(username: string, quota: UserQuota): Promise<boolean>;
	/** What to keep of a password for something else than an account, made in the same queue. */
	hash(password: string, client: Caller): Promise<string>;
	/**
	 * Whether that is the password of something else than an account, which `name` identifies: in the same queue and within the same limits
	 * as a sign-in. Throws `rateLimited`.
	 */
	verify(name: string, secret: string, password: string, client: Caller): Promise<boolean>;
	/** The queue of hashes. */
	queue: FairQueue;
}

/** A user as their session was begun: of its generation. */
type SignedInUser = SessionOwner & Pick<UserRecord, 'generation'>;

/** The client of a password hash. */
export interface Caller {
	address: string;
	/** The `clientKey` by which they wait for their turn; by default their address. */
	client?: string;
	/** Fires when the client no longer waits for the response. */
	signal: AbortSignal;
}

export interface SignInClient extends Caller {
	/** The id under which the client is known to this user; undefined for an unknown client. */
	knownClientId(user: UserRecord | undefined): string | undefined;
}

/**
 * Few hashes of one address at once, and addresses are served round robin: a client that sends a hundred passwords only
 * delays itself. Strangers leave a place to those who are signed in, or known to the account.
 */
const hashing = { running: 3, runningPerClient: 2, waiting: 1000, waitingPerClient: 100 };
const hashingOfVisitors = { running: 2, waiting: 900 };

/** How long a way of signing in may take, which may ask another server. */
const authMs = 30_000;

const hourMs = 60 * 60_000;

interface Dependencies {
	users: UserStore;
	limits: LimitStore;
	config: Pick<Config, 'registrationsPerHour' | 'uploads' | 'workers'>;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Called at each use. */
	auth(): AuthProvider;
	/** @default 30 s */
	authMs?: number;
	storage: MountedStorage;
	/** Renames that have begun, by the id of the user. */
	renames: KeyValueStore;
	trash: Pick<TrashBin, 'purge'>;
	secondFactors: Pick<SecondFactors, 'accept'>;
	leases: Pick<Leases, 'acquire'>;
	/** Throws `conflict` until the move of a user's home to another root has ended. */
	assertNotMoving(user: UserRecord): Promise<void>;
}

export function createAccounts(parts: Dependencies): Accounts {
	const { users, limits, config, now, storage, renames, secondFactors, trash } = parts;
	const alone = aloneWithUsers(parts);
	const hashes = new FairQueue(
		{
			// Two at least: strangers don't have them all.
			running: Math.max(2, shareOf(hashing.running, config)),
			runningPerClient: shareOf(hashing.runningPerClient, config),
			waiting: shareOf(hashing.waiting, config),
			waitingPerClient: shareOf(hashing.waitingPerClient, config),
			group: {
				running: shareOf(hashingOfVisitors.running, config),
				waiting: shareOf(hashingOfVisitors.waiting, config),
				includes: isVisitorKey,
			},
		},
		'Too many people are signing in right now. Please try again in a moment.',
	);
	const queued = <T>({ address, client = limitAddress(address), signal }: Caller, work: () => Promise<T>) =>
		hashes.run({ client, network: networkKey(address) }, work, signal);
	/** Fails what takes too long: it would keep its place, and everybody from signing in once the way of signing in answers again. */
	const withTimeout = <T>(work: Promise<T>) =>
		inTime(
			work,
			parts.authMs ?? authMs,
			new Failure('unavailable', 'Passwords can’t be checked now.', { retryAfter: 30 }),
		);
	const auth = (): AuthProvider => {
		const provider = parts.auth();
		return {
			hash: (password) => withTimeout(provider.hash(password)),
			verify: (secret, password) => withTimeout(provider.verify(secret, password)),
			needsRehash: (secret) => provider.needsRehash(secret),
		};
	};
	const find = async (username: string) => {
		const user = await users.find(username);
		if (user === undefined) throw new Failure('notFound', `There is no user ${username}.`);
		return user;
	};
	const badCredentials = () => new Failure('badCredentials', 'Invalid username or password');

	/** The user, if the password is theirs. */
	const proven = async (found: UserRecord | undefined, password: string): Promise<UserRecord | undefined> => {
		const fits = await auth().verify(found?.secret, password);
		return fits && found !== undefined && !found.isDisabled ? found : undefined;
	};

	/** Keeps the same password under today's parameters. */
	const renewed = async (user: UserRecord, password: string): Promise<UserRecord> => {
		const secret = await auth().hash(password);
		try {
			await users.renewSecret(user.id, secret, user.secret);
			return { ...user, secret };
		} catch (error) {
			// The old parameters are sufficient until there is room for new ones.
			if (isFailure(error, 'storageFull')) return user;
			if (!isFailure(error, 'conflict')) throw error;
			// Another call was first: a sign-in with the same password, or a new password, which makes this hash obsolete.
			const renewedByOthers = await proven(await users.find(user.username), password);
			if (renewedByOthers === undefined) throw badCredentials();
			// Of the generation before: what has ended sessions since, such as a second factor, has not been met.
			return { ...renewedByOthers, generation: user.generation };
		}
	};

	/** The user who is signed in, if the password is theirs. */
	const confirmed = async ({ id, username }: SessionOwner, password: string, client: SignInClient) => {
		const found = await users.get(id);
		const origin = { address: client.address, username, knownClientId: client.knownClientId(found) };
		const user = await limitAttempts(limits, origin, now(), () => proven(found, password));
		if (user === undefined) throw new Failure('badCredentials', 'The current password is wrong.');
		return user;
	};

	const accounts: Accounts = {
		queue: hashes,

		hash: (password, client) => queued(client, () => auth().hash(password)),

		verify: (name, secret, password, client) =>
			queued(client, async () => {
				const origin = { address: client.address, username: name, knownClientId: undefined };
				const attempt = async () => ((await auth().verify(secret, password)) ? true : undefined);
				return (await limitAttempts(limits, origin, now(), attempt)) === true;
			}),

		signUp: (username, password, { address, signal }) =>
			queued({ address, signal }, async () => {
				await countRegistration(limits, address, config.registrationsPerHour, now());
				return accounts.create(username, password);
			}),

		async signIn(username, password, client, code) {
			// Not every text can be used in a query. Such a name can't exist.
			const name = isValidUsername(username) ? username : anonymousOwner;
			const account = await users.find(name);
			const isKnown = client.knownClientId(account) !== undefined;
			const { address, signal } = client;
			// Not by a session, which may be of another account: each is made in a moment.
			const caller =
				account !== undefined && isKnown ? { ...client, client: accountKey(account.id) } : { address, signal };
			return queued(caller, async () => {
				// Again: it may have changed meanwhile.
				const found = await users.find(name);
				const origin = { address: client.address, username: name, knownClientId: client.knownClientId(found) };
				let failure = badCredentials();
				const signedIn = await limitAttempts(limits, origin, now(), async () => {
					const user = await proven(found, password);
					if (user === undefined) return undefined;
					const accepted = await secondFactors.accept(user, code, origin.knownClientId);
					if (accepted !== undefined) return { user, accepted };
					failure = wrongCode();
					return undefined;
				});
				if (signedIn === undefined) throw failure;
				const { user, accepted } = signedIn;
				return { user: auth().needsRehash(user.secret) ? await renewed(user, password) : user, accepted };
			});
		},

		async create(username, password, newHome = {}) {
			checkUsername(username);
			checkPassword(password);
			const taken = new Failure('alreadyExists', 'This user name is already taken.');
			if ((await users.find(username)) !== undefined) throw taken;
			const { rootId } = (await rootOfNewHome(storage, username, newHome, taken)).storage;
			const secret = await auth().hash(password);
			const user = await users.add({ username, secret, rootId }).catch((error: unknown) => {
				throw isFailure(error, 'alreadyExists') ? taken : error;
			});
			try {
				await makeHome(storage.home(user.username), user.username);
			} catch (error) {
				// The account is made, and its home is made at its first use too: refusing now would only leave a name that is taken.
				if (!isFailure(error)) throw error;
			}
			return user;
		},

		async setPassword(username, password) {
			checkPassword(password);
			const user = await find(username);
			await users.setSecret(user.id, await auth().hash(password));
		},

		changePassword: (signedIn, current, password, client) =>
			queued(client, async () => {
				checkPassword(password);
				const user = await confirmed(signedIn, current, client);
				const secret = await auth().hash(password);
				return { ...user, secret, generation: await users.setSecret(user.id, secret, signedIn.generation) };
			}),

		confirmPassword: (user, password, client) =>
			queued(client, async () => {
				await confirmed(user, password, client);
			}),

		async rename(username, newName) {
			checkUsername(newName);
			// One that was cut off may have the new name.
			const user = (await users.find(username)) ?? (await users.find(newName));
			const rename = () => renameUser(username, newName, { users, renames, storage });
			if (user === undefined) return rename();
			await alone([user], async () => {
				await parts.assertNotMoving(user);
				await rename();
			});
		},

		async setDisabled(username, isDisabled) {
			const user = await find(username);
			return alone([user], async () => {
				await assertNotHalfRenamed(user, renames);
				const before = await users.get(user.id);
				// Also where it seems to be so already: a disabled account may have sessions still.
				await users.setDisabled(user.id, isDisabled);
				return before?.isDisabled !== isDisabled;
			});
		},

		async remove(username, filesAction) {
			const user = await find(username);
			const changed = filesAction.kind === 'move' && filesAction.to.id !== user.id ? [user, filesAction.to] : [user];
			return alone(changed, async () => {
				for (const each of changed) await assertNotHalfRenamed(each, renames);
				await parts.assertNotMoving(user);
				return removeUser(user, filesAction, { users, storage, trash, config });
			});
		},

		find,

		list: () => users.list(),
		overview: () => users.overview(),

		async quota(username) {
			const user = await find(username);
			return { user, quota: await users.quota(user.id) };
		},

		async setQuota(username, quota) {
			const { id } = await find(username);
			const before = await users.quota(id);
			await users.setQuota(id, quota);
			return before.bytes !== quota.bytes || before.entries !== quota.entries;
		},
	};
	return accounts;
}

function checkUsername(username: string): void {
	if (isValidUsername(username)) return;
	throw new Failure(
		'invalidName',
		'A user name has 1 to 32 letters, digits, dots, dashes or underscores, begins with a letter or digit, and is not anonymous or public.',
	);
}

function checkPassword(password: string): void {
	const { min, max } = passwordLength;
	if (password.length < min || password.length > max) {
		throw new Failure('invalid', `A password has ${min} to ${max} characters.`);
	}
}

/** How many times as many may register from the largest network that one customer has as from one address. */
const siteFactor = 4;

/**
 * Counts one attempt to register from an address, whether it succeeds or not: each costs a hash and reveals whether a name is taken.
 * Throws `rateLimited`; what is refused counts nothing, or one customer of a provider could use up what all of a network have.
 */
async function countRegistration(limits: LimitStore, address: string, maxPerHour: number, now: number): Promise<void> {
	const site = siteOf(address);
	const bounds = [
		{ key: `register:${limitAddress(address)}`, windowMs: hourMs, max: maxPerHour },
		...(site === undefined ? [] : [{ key: `register:${site}`, windowMs: hourMs, max: siteFactor * maxPerHour }]),
	];
	const assertFree = (counts: readonly { count: number; endsAt: number }[]) => {
		const exceeded = counts.filter(({ count }, at) => count > (bounds[at]?.max ?? 0));
		if (exceeded.length === 0) return;
		const endsAt = Math.max(...exceeded.map((each) => each.endsAt));
		throw rateLimited('Too many people have registered from here. Please try again later.', endsAt, now);
	};
	assertFree(await limits.peekEach(bounds, now));
	assertFree(await limits.hitEach(bounds, now));
}

import type { UserQuota, UserRecord } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import { type AuditEvent, accountFields, namedAccountFields } from '../audit/auditLine.js';
import { type Audit, outcomeOf } from '../audit/createAudit.js';
import type { Accounts } from './accounts.js';
import type { FilesAction } from './removeUser.js';
import type { SecondFactors } from './secondFactors.js';
import type { Sessions } from './sessions.js';

/** Wraps the service: sign-ins and changes of accounts are written to the audit log. */
export function auditedAccounts(accounts: Accounts, audit: Audit): Accounts {
	/** Records a change of an account by the name that it has, however that was typed. */
	const changing = async <T>(
		event: AuditEvent,
		typed: string,
		work: () => Promise<T>,
		detailsOf?: (result: T) => Partial<AuditEvent> | undefined,
	): Promise<T> => {
		const account = await namedAccountFields(accounts.find, typed);
		return audit.recorded({ ...event, ...account }, work, detailsOf);
	};
	return {
		...accounts,

		signUp: (username, password, client) =>
			audit.recorded(
				{ action: 'signUp' },
				// A user who registers is one line.
				() => accounts.signUp(username, password, client),
				(user) => ({ viewer: viewerOf(user) }),
			),

		async signIn(username, password, client, code) {
			// The entered name may be a password, so only the name of an existing account is recorded.
			let tried: UserRecord | undefined;
			const knownClientId = (user: UserRecord | undefined) => {
				tried = user;
				return client.knownClientId(user);
			};
			try {
				const signedIn = await accounts.signIn(username, password, { ...client, knownClientId }, code);
				audit.record({ action: 'signIn', viewer: viewerOf(signedIn.user) }, { outcome: 'ok' });
				return signedIn;
			} catch (error) {
				const account = tried === undefined ? {} : accountFields(tried);
				// A user who is asked for the code has not failed yet.
				const isAskedForCode = isFailure(error, 'secondFactor') && code === undefined;
				audit.record({ action: isAskedForCode ? 'signIn' : 'signInFailed', ...account }, outcomeOf(error));
				throw error;
			}
		},

		async confirmPassword(user, password, client) {
			try {
				await accounts.confirmPassword(user, password, client);
			} catch (error) {
				audit.record({ action: 'signInFailed', ...accountFields(user) }, outcomeOf(error));
				throw error;
			}
		},

		changePassword: (user, current, password, client) =>
			audit.recorded({ action: 'password', ...accountFields(user) }, () =>
				accounts.changePassword(user, current, password, client),
			),
		create: (username, password, options) =>
			audit.recorded(
				{ action: 'createUser', account: username },
				() => accounts.create(username, password, options),
				accountFields,
			),
		setPassword: (username, password) =>
			changing({ action: 'password' }, username, () => accounts.setPassword(username, password)),
		rename: (username, newName) =>
			changing({ action: 'renameUser', to: newName }, username, () => accounts.rename(username, newName)),
		setDisabled: (username, isDisabled) =>
			changing(
				{ action: isDisabled ? 'disableUser' : 'enableUser' },
				username,
				() => accounts.setDisabled(username, isDisabled),
				ifChanged,
			),
		remove: (username, filesAction) =>
			changing(
				{ action: 'removeUser', detail: removalText(filesAction) },
				username,
				() => accounts.remove(username, filesAction),
				(folder) => (folder === undefined || filesAction.kind !== 'move' ? {} : { to: folder }),
			),
		setQuota: (username, quota) =>
			changing(
				{ action: 'setQuota', detail: quotaText(quota) },
				username,
				() => accounts.setQuota(username, quota),
				ifChanged,
			),
	};
}

/** Wraps the service: turning the second factor on or off and using a recovery code are written to the audit log. */
export function auditedSecondFactors(secondFactors: SecondFactors, audit: Audit): SecondFactors {
	const turningOff = (user: Pick<UserRecord, 'id' | 'username'>, work: () => Promise<boolean>) =>
		audit.recorded({ action: 'disableTotp', ...accountFields(user) }, work, ifChanged);
	return {
		...secondFactors,
		confirm: (user, ...rest) =>
			audit.recorded({ action: 'enableTotp', ...accountFields(user) }, () => secondFactors.confirm(user, ...rest)),
		turnOff: (user, ...rest) => turningOff(user, () => secondFactors.turnOff(user, ...rest)),
		remove: (user) => turningOff(user, () => secondFactors.remove(user)),
		async accept(user, code, knownClientId) {
			const accepted = await secondFactors.accept(user, code, knownClientId);
			if (accepted?.by === 'recoveryCode')
				audit.record({ action: 'recoveryCode', viewer: viewerOf(user) }, { outcome: 'ok' });
			return accepted;
		},
	};
}

/** Wraps the service: ended sessions are written to the audit log. */
export function auditedSessions(sessions: Sessions, audit: Audit): Sessions {
	return {
		...sessions,
		end: (request) =>
			// A visitor ends nothing.
			sessions.keyOf(request) === undefined
				? sessions.end(request)
				: audit.recorded({ action: 'signOut' }, () => sessions.end(request)),
		endOne: (user, id) =>
			audit.recorded({ action: 'endSessions', ...accountFields(user), entries: 1 }, () => sessions.endOne(user, id)),
		endOthers: (request, user) =>
			audit.recorded(
				{ action: 'endSessions', ...accountFields(user) },
				() => sessions.endOthers(request, user),
				(entries) => (entries === 0 ? undefined : { entries }),
			),
	};
}

/** What has changed nothing is not recorded. */
const ifChanged = (isChanged: boolean) => (isChanged ? {} : undefined);

function removalText(filesAction: FilesAction): string {
	const files = filesAction.kind === 'move' ? `files to ${filesAction.to.username}` : `files: ${filesAction.kind}`;
	return filesAction.kind === 'delete' || filesAction.purgesTrash === true ? `${files}, trash: deleted` : files;
}

function quotaText({ bytes, entries }: UserQuota): string {
	const text = (limit: number | null) => (limit === null ? 'default' : limit === 0 ? 'no limit' : String(limit));
	return `bytes: ${text(bytes)}, entries: ${text(entries)}`;
}

function viewerOf({ id, username }: Pick<UserRecord, 'id' | 'username'>) {
	return { kind: 'user', id, username } as const;
}

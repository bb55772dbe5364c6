import { parentPath, parsePath } from '@stowage/rules';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { changeMembers, type Member, membersQuery } from '../../api/members.js';
import { queryKeys } from '../../api/queryKeys.js';
import { changedMembers, isMember, type MembershipChange, sortedMembers } from './memberList.js';
import { memberMessages as messages } from './messages.js';

/** Why a change was not made. */
export interface ChangeError {
	/** Whether an addition failed, so that what was typed is wrong. */
	isOfField: boolean;
	message: string;
	reason?: string | undefined;
}

/** The members of a folder of the private area, and the changes to them, which hold at once, one after the other. */
export function useMembers(path: string) {
	const queryClient = useQueryClient();
	const { queryKey } = membersQuery(path);
	const { data, error, refetch } = useQuery(membersQuery(path));
	const [failure, setFailure] = useState<ChangeError>();
	const [done, setDone] = useState('');
	const [pending, setPending] = useState(0);
	const last = useRef<Promise<unknown>>(Promise.resolve());

	/** Resolves to whether it was made. */
	async function make(change: MembershipChange): Promise<boolean> {
		setPending((count) => count + 1);
		// An older answer would show what was before.
		await queryClient.cancelQueries({ queryKey });
		// What is chosen shows at once; a new name only as it is registered.
		if (change.kind !== 'add')
			queryClient.setQueryData(queryKey, (members) => members && changedMembers(members, change));
		const before = last.current;
		const made = before.then(() => changeMembers(path, (members) => changedMembers(members, change)));
		last.current = made.catch(() => {});
		try {
			const members = await made;
			queryClient.setQueryData(queryKey, members);
			setFailure(undefined);
			setDone(doneText(change, members));
			void queryClient.invalidateQueries({
				queryKey: queryKeys.listings.folder('private', parentPath(parsePath(path))),
			});
			return true;
		} catch (cause) {
			setDone('');
			setFailure(failureOf(change, (cause as Error).message));
			void refetch();
			return false;
		} finally {
			setPending((count) => count - 1);
		}
	}

	return {
		members: data && sortedMembers(data),
		error: data ? null : error,
		retry: () => void refetch(),
		failure,
		/** What was changed last, as a sentence. */
		done,
		isBusy: pending > 0,
		async add(typed: string): Promise<boolean> {
			const username = typed.trim();
			const message =
				username === '' ? messages.enterName : isMember(data ?? [], username) && messages.isMember(username);
			if (!message) return make({ kind: 'add', username, role: 'view' });
			setFailure({ isOfField: true, message });
			return false;
		},
		setRole: ({ username }: Member, role: Member['role']) => make({ kind: 'role', username, role }),
		remove: ({ username }: Member) => make({ kind: 'remove', username }),
	};
}

function doneText(change: MembershipChange, members: readonly Member[]): string {
	const isMeant = ({ username }: Member) => username.toLowerCase() === change.username.toLowerCase();
	const username = members.find(isMeant)?.username ?? change.username;
	switch (change.kind) {
		case 'add':
			return messages.added(username, change.role);
		case 'role':
			return messages.roleChanged(username, change.role);
		case 'remove':
			return messages.removed(username);
	}
}

function failureOf({ kind, username }: MembershipChange, reason: string): ChangeError {
	switch (kind) {
		case 'add':
			return { isOfField: true, message: messages.addFailed(username), reason };
		case 'role':
			return { isOfField: false, message: messages.roleFailed(username), reason };
		case 'remove':
			return { isOfField: false, message: messages.removeFailed(username), reason };
	}
}

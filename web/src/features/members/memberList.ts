import { foldUsername, type MemberRole } from '@stowage/rules';
import type { Member } from '../../api/members.js';

/** One change to the members of a folder. */
export type MembershipChange =
	| { kind: 'add'; username: string; role: MemberRole }
	| { kind: 'role'; username: string; role: MemberRole }
	| { kind: 'remove'; username: string };

export function isMember(members: readonly Member[], username: string): boolean {
	return members.some((member) => foldUsername(member.username) === foldUsername(username));
}

/** The members after a change. Who was removed meanwhile does not come back by another role. */
export function changedMembers(members: readonly Member[], change: MembershipChange): Member[] {
	const isMeant = ({ username }: Member) => foldUsername(username) === foldUsername(change.username);
	switch (change.kind) {
		case 'add': {
			const { username, role } = change;
			return isMember(members, username) ? [...members] : [...members, { username, role }];
		}
		case 'role':
			return members.map((member) => (isMeant(member) ? { ...member, role: change.role } : member));
		case 'remove':
			return members.filter((member) => !isMeant(member));
	}
}

/** Members sorted by name, as they are listed. */
export function sortedMembers(members: readonly Member[]): Member[] {
	return members.toSorted((one, other) => one.username.localeCompare(other.username, 'en'));
}

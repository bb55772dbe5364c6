import type { MemberRole } from '@stowage/rules';

const roles: Record<MemberRole, string> = { view: 'Can view', edit: 'Can edit' };

/** The sentences about the members of folders. */
export const memberMessages = {
	members: 'Members',
	lead: 'They find this folder under Shared with Me. What they add counts in your space, and what they delete is in your trash.',
	username: 'Username',
	add: 'Add',
	roles,
	roleOf: (username: string) => `What ${username} can do`,
	remove: 'Remove',
	loading: 'Loading the members',
	loadFailed: 'The members could not be loaded',
	none: 'Only you can see this folder',
	noneHint: 'Add somebody by the name of their account here.',
	enterName: 'Please enter a user name',
	isMember: (username: string) => `${username} is a member already.`,
	addFailed: (username: string) => `${username} could not be added`,
	roleFailed: (username: string) => `What ${username} can do could not be changed`,
	removeFailed: (username: string) => `${username} could not be removed`,
	added: (username: string, role: MemberRole) => `Added ${username}, who ${roles[role].toLowerCase()}`,
	roleChanged: (username: string, role: MemberRole) => `${username} ${roles[role].toLowerCase()} now`,
	removed: (username: string) => `Removed ${username}`,

	leave: 'Leave',
	leaveQuestion: (folder: string, owner: string) =>
		`Leave ${folder}? You will not see it any more. Only ${owner} can let you in again.`,
	leaveNote: 'What you have put into it stays there.',
	left: (folder: string) => `You have left ${folder}`,
	leaveFailed: (folder: string) => `You could not leave ${folder}`,
} as const;

import type { MemberRole } from '@stowage/rules';
import test from 'ava';
import type { Member } from '../src/api/members.js';
import { changedMembers, isMember, sortedMembers } from '../src/features/members/memberList.js';

const members: Member[] = [
	{ username: 'bob', role: 'view' },
	{ username: 'Ann', role: 'edit' },
];
const text = (list: readonly Member[]) => list.map(({ username, role }) => `${username}:${role}`).join(' ');
const role = (username: string, wanted: MemberRole) =>
	changedMembers(members, { kind: 'role', username, role: wanted });

test('members are added, get other roles, are removed and listed by name', (t) => {
	t.is(text(changedMembers(members, { kind: 'add', username: 'eve', role: 'view' })), 'bob:view Ann:edit eve:view');
	t.is(text(role('bob', 'edit')), 'bob:edit Ann:edit');
	t.is(text(changedMembers(members, { kind: 'remove', username: 'Ann' })), 'bob:view');
	t.is(text(sortedMembers(members)), 'Ann:edit bob:view');
});

test('names are compared as accounts are, so nobody is a member twice', (t) => {
	t.true(isMember(members, 'ANN'));
	t.false(isMember(members, 'an'));
	t.is(text(changedMembers(members, { kind: 'add', username: 'BOB', role: 'edit' })), 'bob:view Ann:edit');
});

test('who was removed meanwhile does not come back by another role', (t) => {
	t.is(text(role('eve', 'edit')), 'bob:view Ann:edit');
	t.is(text(changedMembers(members, { kind: 'remove', username: 'eve' })), 'bob:view Ann:edit');
});

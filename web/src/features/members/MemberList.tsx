import { Button, HTMLSelect } from '@blueprintjs/core';
import { PersonIcon } from '@blueprintjs/icons';
import { type MemberRole, memberRoles } from '@stowage/rules';
import { useId, useRef } from 'react';
import type { Member } from '../../api/members.js';
import styles from './members.module.css';
import { memberMessages as messages } from './messages.js';

export interface MemberListProps {
	members: readonly Member[];
	onRole: (member: Member, role: MemberRole) => void;
	onRemove: (member: Member) => void;
	/** The last one is being removed, and with it the button that has the focus. */
	onEmptied: () => void;
}

/** The members of a folder, each with what they can do. */
export function MemberList({ members, onRole, onRemove, onEmptied }: MemberListProps) {
	const list = useRef<HTMLUListElement>(null);
	function remove(member: Member) {
		const buttons = [...(list.current?.querySelectorAll('button') ?? [])];
		const index = members.indexOf(member);
		const next = buttons[index + 1] ?? buttons[index - 1];
		if (next) next.focus();
		else onEmptied();
		onRemove(member);
	}
	return (
		<ul ref={list} className={styles.members} aria-label={messages.members}>
			{members.map((member) => (
				<MemberRow
					key={member.username}
					member={member}
					onRole={(role) => onRole(member, role)}
					onRemove={() => remove(member)}
				/>
			))}
		</ul>
	);
}

interface MemberRowProps {
	member: Member;
	onRole: (role: MemberRole) => void;
	onRemove: () => void;
}

function MemberRow({ member: { username, role }, onRole, onRemove }: MemberRowProps) {
	const id = useId();
	return (
		<li className={styles.member} aria-labelledby={id}>
			<PersonIcon className={styles.icon} aria-hidden />
			<span id={id} className={styles.username}>
				{username}
			</span>
			<HTMLSelect
				className={styles.role}
				aria-label={messages.roleOf(username)}
				value={role}
				onChange={({ currentTarget }) => onRole(currentTarget.value as MemberRole)}
			>
				{memberRoles.map((each) => (
					<option key={each} value={each}>
						{messages.roles[each]}
					</option>
				))}
			</HTMLSelect>
			<Button variant="minimal" text={messages.remove} aria-describedby={id} onClick={onRemove} />
		</li>
	);
}

import { Button } from '@blueprintjs/core';
import { ConsoleIcon, DesktopIcon, HelpIcon, MobilePhoneIcon } from '@blueprintjs/icons';
import { describeClient, plural } from '@stowage/rules';
import { useId, useRef, useState } from 'react';
import type { UserSession } from '../../../api/session/userSessions.js';
import { useOpenings } from '../../../ui/dialogs/dialogs.js';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { ListError, ListLoading } from '../../../ui/dialogs/ListDialog.js';
import { accountMessages as messages } from '../messages.js';
import { type Hold, Section, useHold } from '../Section.js';
import styles from './SessionsSection.module.css';
import { clientOf, sessionLines } from './sessionText.js';
import { useUserSessions } from './useUserSessions.js';

/** Where the user is signed in, with a button for each other session that ends it. */
export function SessionsSection({ username, hold }: { username: string; hold: Hold }) {
	const { sessions, error, retry, end, endOthers } = useUserSessions(username);
	const title = useRef<HTMLHeadingElement>(null);
	return (
		<Section title={messages.sessions} titleRef={title}>
			{sessions ? (
				<SessionList
					sessions={sessions}
					hold={hold}
					onEnd={end}
					onEndOthers={endOthers}
					onFocusLost={() => title.current?.focus()}
				/>
			) : error ? (
				<ListError title={messages.loadFailed} reason={error.message} onRetry={retry} />
			) : (
				<ListLoading label={messages.loading} />
			)}
		</Section>
	);
}

interface SessionListProps {
	sessions: readonly UserSession[];
	hold: Hold;
	onEnd: (session: UserSession) => void;
	/** Resolves to whether they were ended. */
	onEndOthers: () => Promise<boolean>;
	/** The control that had the focus is removed, and there is no other of its kind. */
	onFocusLost: () => void;
}

function SessionList({ sessions, hold, onEnd, onEndOthers, onFocusLost }: SessionListProps) {
	const list = useRef<HTMLUListElement>(null);
	const [isAsking, setAsking] = useState(false);
	const openings = useOpenings(isAsking);
	useHold(hold, isAsking);
	const others = sessions.filter(({ current }) => !current);

	function end(session: UserSession) {
		const buttons = [...(list.current?.querySelectorAll('button') ?? [])];
		const index = others.indexOf(session);
		const next = buttons[index + 1] ?? buttons[index - 1];
		if (next) next.focus();
		else onFocusLost();
		onEnd(session);
	}

	return (
		<>
			<ul ref={list} className={styles.sessions}>
				{sessions.map((session) => (
					<SessionRow key={session.id} session={session} onEnd={() => end(session)} />
				))}
			</ul>
			{others.length > 0 ? (
				<Button
					className={styles.endOthers}
					variant="outlined"
					intent="danger"
					text={messages.endOthers}
					onClick={() => setAsking(true)}
				/>
			) : (
				<p className={styles.none}>{messages.noOtherSessions}</p>
			)}
			<FormDialog
				key={openings}
				isOpen={isAsking}
				title={messages.endOthers}
				confirm={messages.endOthersConfirm}
				intent="danger"
				focusesConfirm
				onConfirm={async () => {
					const areEnded = await onEndOthers();
					// Also where it was closed meanwhile and asks again.
					if (areEnded) setAsking(false);
					return areEnded;
				}}
				onClose={() => setAsking(false)}
				onClosed={() => {
					// The button that opened it was removed.
					if (others.length === 0) onFocusLost();
				}}
			>
				<p>{messages.endOthersQuestion(plural(others.length, 'other session'))}</p>
			</FormDialog>
		</>
	);
}

function SessionRow({ session, onEnd }: { session: UserSession; onEnd: () => void }) {
	const { name, kind } = describeClient(session.userAgent);
	const [lastUsed, since] = sessionLines(session);
	const id = useId();
	return (
		<li className={styles.session}>
			<span className={styles.icon}>{icons[kind]}</span>
			<span className={styles.name} title={session.userAgent ?? undefined}>
				{name}
			</span>
			{session.current ? (
				<span className={styles.current}>{messages.thisSession}</span>
			) : (
				<Button
					className={styles.end}
					variant="minimal"
					intent="danger"
					text={messages.endSession}
					aria-label={messages.endSessionOf(clientOf(session))}
					aria-describedby={id}
					onClick={onEnd}
				/>
			)}
			<span className={styles.lines} id={id}>
				<span>{lastUsed}</span> <span>{since}</span>
			</span>
		</li>
	);
}

const icons = {
	desktop: <DesktopIcon />,
	mobile: <MobilePhoneIcon />,
	program: <ConsoleIcon />,
	unknown: <HelpIcon />,
};

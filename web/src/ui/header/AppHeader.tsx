import { Button } from '@blueprintjs/core';
import { GlobeIcon, LockIcon } from '@blueprintjs/icons';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import { messages } from '../../messages.js';
import styles from './AppHeader.module.css';
import { UserButton } from './UserButton.js';
import type { UserMenuProps } from './UserMenu.js';

// Popovers are a tenth of the landing page's script, and a visitor has no menu.
const UserMenu = lazy(async () => ({ default: (await import('./UserMenu.js')).UserMenu }));

const accountId = 'account';

export interface AppHeaderProps {
	/** The user name, `null` for a visitor, undefined as long as nobody knows. */
	username: string | null | undefined;
	/** The area that is on screen, if one is. */
	area?: 'private' | 'public' | undefined;
	/** Without it there is no `Sign Up`. */
	isRegistrationOpen: boolean;
	onArea: (area: 'private' | 'public') => void;
	onSignIn: () => void;
	onSignUp: () => void;
	onSettings: () => void;
	/** The user's own temporary links. */
	onLinks: () => void;
	onLogout: () => void;
}

export function AppHeader({ username, area, isRegistrationOpen, onArea, onSignIn, onSignUp, ...menu }: AppHeaderProps) {
	const before = useRef(username);
	useEffect(() => {
		if (typeof before.current === 'string' && username === null) focusAccount();
		before.current = username;
	}, [username]);
	return (
		<header className={styles.header}>
			<Link to="/" className={styles.title}>
				<ProductMark />
				<span className={styles.name}>{messages.productName}</span>
			</Link>
			<div className={styles.areas}>
				{typeof username === 'string' && <AreaButton area="private" isCurrent={area === 'private'} onArea={onArea} />}
				<AreaButton area="public" isCurrent={area === 'public'} onArea={onArea} />
			</div>
			<div id={accountId} className={styles.account}>
				{username === null && (
					<>
						<Button variant="minimal" text={messages.signIn} onClick={onSignIn} />
						{isRegistrationOpen && <Button intent="primary" text={messages.signUp} onClick={onSignUp} />}
					</>
				)}
				{typeof username === 'string' && <Account username={username} onArea={onArea} {...menu} />}
			</div>
		</header>
	);
}

/** Who has just signed in or out goes on at the account, since the control that was used for it has gone. */
export function focusAccount(): void {
	const { activeElement } = document;
	// A dialog that closes still holds what it could not give back.
	if (activeElement && activeElement !== document.body && !activeElement.closest('[role="dialog"]')) return;
	document.getElementById(accountId)?.querySelector('button')?.focus({ preventScroll: true });
}

/** The menu comes a moment after the button, and opens then if the button was pressed by that time. */
function Account(props: Omit<UserMenuProps, 'isOpenAtFirst'>) {
	const [isWanted, setWanted] = useState(false);
	return (
		<Suspense fallback={<UserButton username={props.username} onClick={() => setWanted(true)} />}>
			<UserMenu {...props} isOpenAtFirst={isWanted} />
		</Suspense>
	);
}

function AreaButton({
	area,
	isCurrent,
	onArea,
}: {
	area: 'private' | 'public';
	isCurrent: boolean;
	onArea: AppHeaderProps['onArea'];
}) {
	return (
		<Button
			className={styles.area}
			variant="minimal"
			icon={area === 'private' ? <LockIcon /> : <GlobeIcon />}
			text={area === 'private' ? messages.privateFiles : messages.publicFiles}
			aria-current={isCurrent ? 'page' : undefined}
			onClick={() => onArea(area)}
		/>
	);
}

/** The product's sign; the title beside it is its name. */
function ProductMark() {
	return (
		<svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
			<rect width="32" height="32" rx="8" fill="var(--accent)" />
			<g fill="none" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" strokeLinejoin="round">
				<path d="M9 17.5v4A2.5 2.5 0 0 0 11.5 24h9a2.5 2.5 0 0 0 2.5-2.5v-4" />
				<path d="M16 7.5V18m-4.5-4.5L16 18l4.5-4.5" />
			</g>
		</svg>
	);
}

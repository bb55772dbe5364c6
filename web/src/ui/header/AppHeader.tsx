import { Button } from '@blueprintjs/core';
import { GlobeIcon, LockIcon } from '@blueprintjs/icons';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import { messages } from '../../messages.js';
import { isFocusLost } from '../keyboard/keptFocus.js';
import { type LazyModule, useLazyModule } from '../lazyComponent.js';
import { isPageHeld, isTyping } from '../unsavedWork.js';
import styles from './AppHeader.module.css';
import { ProductMark } from './ProductMark.js';
import { UserButton } from './UserButton.js';
import type { UserMenuProps } from './UserMenu.js';

/** Popovers are a tenth of the landing page's script, and not all open the menu. */
const userMenu: LazyModule<UserMenuProps> = { load: async () => (await import('./UserMenu.js')).UserMenu };

const accountId = 'account';

export interface AppHeaderProps extends Omit<UserMenuProps, 'username' | 'isOpenAtFirst' | 'onClosing'> {
	/** The user name, `null` for a visitor, undefined until the session is known. */
	username: string | null | undefined;
	/** The area on screen, if any. */
	area?: 'private' | 'public' | undefined;
	/** Whether there is a `Sign Up` button. */
	isRegistrationOpen: boolean;
	/** Whether there is a `Public Files` button. */
	isPublicShown: boolean;
	onSignIn: () => void;
	onSignUp: () => void;
	/** Shown beside the account. */
	children?: ReactNode;
}

export function AppHeader(props: AppHeaderProps) {
	const { username, area, isRegistrationOpen, isPublicShown, onArea, onSignIn, onSignUp, children, ...menu } = props;
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
				{isPublicShown && <AreaButton area="public" isCurrent={area === 'public'} onArea={onArea} />}
			</div>
			<div className={styles.account}>{children}</div>
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

/** Moves the focus to the account's button after signing in or out, since the control that had it was removed. */
export function focusAccount(): void {
	// It goes back to the work by itself.
	if (isPageHeld() || isTyping()) return;
	// A closing dialog keeps the focus if the element that had it before is gone.
	if (!isFocusLost() && !document.activeElement?.closest('[role="dialog"]')) return;
	focusButton();
}

function focusButton(): void {
	document.getElementById(accountId)?.querySelector('button')?.focus({ preventScroll: true });
}

/** The menu is loaded when the button is pressed, and then opens at once. */
function Account(props: Omit<UserMenuProps, 'isOpenAtFirst' | 'onClosing'>) {
	const [wasPressed, setPressed] = useState(false);
	const [UserMenu, load] = useLazyModule(userMenu, () => setPressed(false));
	if (UserMenu) return <UserMenu {...props} isOpenAtFirst={wasPressed} onClosing={focusButton} />;
	return (
		<UserButton
			username={props.username}
			aria-haspopup="menu"
			aria-expanded={false}
			onClick={() => {
				setPressed(true);
				load();
			}}
		/>
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

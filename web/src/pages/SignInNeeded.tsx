import { Button } from '@blueprintjs/core';
import { LockIcon } from '@blueprintjs/icons';
import { messages } from '../messages.js';
import { EmptyState } from '../ui/display/EmptyState.js';
import { useFrame } from '../ui/frame.js';
import styles from './BrowserPage.module.css';

/** Shown to visitors in place of a page that has nothing for them. */
export function SignInNeeded({ title, hint }: { title: string; hint: string }) {
	const { openSignIn } = useFrame();
	return (
		<div className={styles.page}>
			<EmptyState icon={<LockIcon size={32} />} title={title} titleTagName="h1" detail={hint}>
				<Button intent="primary" text={messages.signIn} onClick={openSignIn} />
			</EmptyState>
		</div>
	);
}

import { Button } from '@blueprintjs/core';
import { ErrorIcon } from '@blueprintjs/icons';
import { type Area, isFailure } from '@stowage/rules';
import { EmptyState } from '../../../ui/display/EmptyState.js';
import { filesMessages as messages } from '../messages.js';
import styles from './LoadError.module.css';

export interface LoadErrorProps {
	/** Undefined for an address that no folder can have. */
	error: Error | undefined;
	/** The area of the folder; undefined counts as one's own. */
	area?: Area | undefined;
	onRetry: () => void;
	onHome: () => void;
}

/** Shown instead of the list if the folder can't be loaded. */
export function LoadError({ error, area, onRetry, onHome }: LoadErrorProps) {
	const isMissing = error === undefined || isFailure(error, 'notFound') || isFailure(error, 'invalidPath');
	const isShared = area === 'shared';
	return (
		<div role="alert" className={styles.error}>
			<EmptyState
				icon={<ErrorIcon size={32} />}
				title={messages.loadFailed}
				detail={isMissing ? (isShared ? messages.notSharedAnyMore : messages.noSuchFolder) : error.message}
			>
				{!isMissing && <Button intent="primary" text={messages.tryAgain} onClick={onRetry} />}
				<Button
					intent={isMissing ? 'primary' : 'none'}
					text={isShared ? messages.sharedWithMe : messages.home}
					onClick={onHome}
				/>
			</EmptyState>
		</div>
	);
}

package sessionfmt

import "syscall"

// mountSmall puts a file system of 256 KB on dir. Only root may.
func mountSmall(dir string) (unmount func(), err error) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		return nil, err
	}
	return func() { syscall.Unmount(dir, syscall.MNT_DETACH) }, nil
}

import { describe, expect, it } from 'vitest';
import { parseContainerLogLink } from '../../../src/formats/runtime/container-log-link.ts';
import { parsePodLogDirectory } from '../../../src/formats/runtime/pod-log-directory.ts';
import { isPodUid, podUidOfCgroup, podUidOfKubeletPath } from '../../../src/formats/runtime/pod-uid.ts';

const UID = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
const STATIC = '0123456789abcdef0123456789abcdef';

describe('the uid of a pod', () => {
  it.each([
    ['cgroupfs', `/kubepods/burstable/pod${UID}/4f1c`, UID],
    ['cgroupfs, guaranteed', `/kubepods/pod${UID}`, UID],
    ['systemd', `kubepods-besteffort-pod${UID.replaceAll('-', '_')}.slice:cri-containerd:4f1c`, UID],
    [
      'systemd, as mounted',
      `/kubepods.slice/kubepods-pod${UID.replaceAll('-', '_')}.slice/cri-containerd-4f1c.scope`,
      UID,
    ],
    ['a static pod', `/kubepods/besteffort/pod${STATIC}/4f1c`, STATIC],
    ['/proc/<pid>/cgroup', `12:memory:/a\n0::/kubepods/pod${UID}/4f1c\n`, UID],
  ])('is in its cgroup path: %s', (_, path, uid) => {
    expect(podUidOfCgroup(path)).toBe(uid);
  });

  it.each(['/docker/4f1c', '/k8s.io/4f1c', '/kubepods/podX', `/tripod${UID}/x`])('is not in %s', path => {
    expect(podUidOfCgroup(path)).toBeNull();
  });

  it("is in the paths below kubelet's root", () => {
    expect(podUidOfKubeletPath(`/var/lib/kubelet/pods/${UID}/etc-hosts`)).toBe(UID);
    expect(podUidOfKubeletPath('/var/lib/kubelet/pods/x/etc-hosts')).toBeNull();
  });

  it('looks like a uid, or like the hash of a static pod', () => {
    expect([UID, STATIC, `${UID}0`, 'web-0', ''].map(isPodUid)).toEqual([true, true, false, false, false]);
  });
});

describe('the log directory of a pod', () => {
  it('names namespace, pod and uid', () => {
    expect(parsePodLogDirectory(`/var/log/pods/kube-system_etcd-a_${STATIC}/`)).toEqual({
      namespace: 'kube-system',
      name: 'etcd-a',
      uid: STATIC,
    });
  });

  it.each(['/var/lab4/facts/podlogs/podi16', '', '/', 'a_b', 'a_b_c_d', '_b_c'])('is not %j', path => {
    expect(parsePodLogDirectory(path)).toBeNull();
  });
});

describe('the log link of a container', () => {
  const id = 'a'.repeat(64);

  it('names pod, namespace, container and id', () => {
    expect(parseContainerLogLink(`web-0_shop_side-car-${id}.log`)).toEqual({
      pod: 'web-0',
      namespace: 'shop',
      container: 'side-car',
      containerId: id,
    });
  });

  it.each(['', `web-0_shop_app-${id}`, `web-0_app-${id}.log`, 'web-0_shop_app-abc.log', `a_b_c_d-${id}.log`])(
    'is not %j',
    name => {
      expect(parseContainerLogLink(name)).toBeNull();
    },
  );
});

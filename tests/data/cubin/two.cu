// The source of the cubins beside it: two kernels, one with 4 KiB of static shared memory, and a
// device function that is no entry. two_sm75_11.8.cubin is NVRTC 11.8's, the others NVRTC 13.0's.
__device__ __noinline__ float third(float a) { return a / 3.0f; }

extern "C" __global__ void with_shared(float *x)
{
    __shared__ float tile[1024];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x ^ 1];
}

extern "C" __global__ void without_shared(float *x)
{
    x[threadIdx.x] = third(x[threadIdx.x]);
}
